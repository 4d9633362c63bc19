// SPDX-License-Identifier: Apache-2.0
// The methods about keys of instances that seal.
#include <gtest/gtest.h>

#include "bench.h"

namespace suede {
namespace {

class KeyMethodsTest : public testing::Test {
 protected:
  ManagementBench bench_;
  TestClient client_{bench_};
};

TEST_F(KeyMethodsTest, ListHasARowForEachPeer) {
  EXPECT_EQ(Dump(client_.Result("keys.list")),
            R"({"keys":[{"xpu":3,"instance":1,"peer":5,"sealing":"required","sealed":true,)"
            R"("secret_id":2,"tx_epoch":7,"rx_epoch":6}]})");
}

TEST_F(KeyMethodsTest, RotateRotates) {
  EXPECT_EQ(Dump(client_.Result("keys.rotate")), R"({"peers":1})");
  EXPECT_EQ(bench_.endpoint.rotations, 1);
}

TEST_F(KeyMethodsTest, ReloadSaysWhatIsWrong) {
  EXPECT_EQ(Dump(client_.Result("keys.reload")), R"({"secrets":3})");
  bench_.endpoint.secrets = absl::InvalidArgumentError("/etc/suede/secrets:3:7: this is no id");
  EXPECT_NE(Dump(client_.Ask(R"({"jsonrpc":"2.0","id":1,"method":"keys.reload","params":{}})"))
                .find("/etc/suede/secrets:3:7: this is no id"),
            std::string::npos);
}

}  // namespace
}  // namespace suede
