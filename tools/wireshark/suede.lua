-- SPDX-License-Identifier: Apache-2.0
-- suede.lua: Wireshark and tshark dissect Scale-Up Ethernet as docs/wire-format.md,
-- docs/control-pdus.md, docs/sealing.md, docs/axi.md, docs/memory.md and docs/sockets.md lay it out.
-- README.md beside this file says how to install and use it.
--
-- In this order: preferences, fields, expert infos, R-CRC, AXI4, memory operations, message sockets,
-- commands, control PDUs, analysis of connections, sealed PDUs, the PDU, the six network headers, link
-- frames, registration, PSN over time.
--
-- Numbers that Lua shows are formatted with %d: from Lua 5.3 on, 3.0 and 3 print differently.

-- Installed as a plugin and named by -X lua_script as well, this file is run twice. A protocol can
-- be registered once only, so that a second run does no more than read its arguments.
local loaded = rawget(_G, "suede_dissector")
if loaded then
  loaded.read_arguments({...})
  return
end

local suede = Proto("suede", "Scale-Up Ethernet")

local WINDOW = 2 ^ 14  -- no two PSNs that are on their way together are further apart
local PSNS = 2 ^ 16
local RH_BYTES = 8
local RCRC_BYTES = 4
local DATA_VERSION, CONTROL_VERSION = 0, 3
local SEALED_DATA_VERSION, SEALED_CONTROL_VERSION = 1, 2
local SESSION_SHIM_BYTES, HELLO_SHIM_BYTES, TAG_BYTES = 10, 18, 16
local LAST_STREAM = 63
local FIRST_SOURCE_PORT = 49152

-- The headers that this file reads, from their declaration in lib/wire/encap: tests/wire writes and
-- compares the table. Bytes of a header and places of fields are those of an untagged frame; `value`
-- is a constant.
-- headers: begin
local HEADERS = {
  afh1 = { name = "afh1", title = "AFH Gen 1", bytes = 14,
    ethertype = 0x88b5, prefixed = true,
    fields = {
      { name = "prefix", label = "prefix", at = 0, bytes = 4 },
      { name = "dst", label = "destination forwarding address", at = 4, bytes = 2 },
      { name = "prefix", label = "prefix", at = 6, bytes = 4 },
      { name = "src", label = "source forwarding address", at = 10, bytes = 2 },
      { name = "ethertype", label = "EtherType", at = 12, bytes = 2 },
    } },
  afh1s = { name = "afh1s", title = "AFH Gen 1 with shim", bytes = 22,
    ethertype = 0x88b6, prefixed = true,
    fields = {
      { name = "prefix", label = "prefix", at = 0, bytes = 4 },
      { name = "dst", label = "destination forwarding address", at = 4, bytes = 2 },
      { name = "prefix", label = "prefix", at = 6, bytes = 4 },
      { name = "src", label = "source forwarding address", at = 10, bytes = 2 },
      { name = "ethertype", label = "EtherType", at = 12, bytes = 2 },
      { name = "version", label = "version", at = 14, bytes = 1,
        mask = 0xf0, shift = 4, value = 0 },
      { name = "reserved", label = "reserved", at = 14, bytes = 1,
        mask = 0x0f, shift = 0 },
      { name = "dscp", label = "DSCP", at = 15, bytes = 1,
        mask = 0xfc, shift = 2 },
      { name = "ecn", label = "ECN", at = 15, bytes = 1,
        mask = 0x03, shift = 0 },
      { name = "hop_count", label = "hop limit", at = 16, bytes = 1 },
      { name = "next_header", label = "next header", at = 17, bytes = 1, value = 1 },
      { name = "entropy", label = "entropy", at = 18, bytes = 2 },
      { name = "length", label = "length", at = 20, bytes = 2 },
    } },
  afh2 = { name = "afh2", title = "AFH Gen 2", bytes = 14,
    ethertype = 0x88b5, prefixed = false,
    fields = {
      { name = "w", label = "W", at = 0, bytes = 1,
        mask = 0x80, shift = 7, value = 0 },
      { name = "v", label = "V", at = 0, bytes = 1,
        mask = 0x40, shift = 6, value = 0 },
      { name = "zero", label = "zero", at = 0, bytes = 1,
        mask = 0x30, shift = 4, value = 0 },
      { name = "z", label = "Z", at = 0, bytes = 1,
        mask = 0x08, shift = 3, value = 0 },
      { name = "y", label = "Y", at = 0, bytes = 1,
        mask = 0x04, shift = 2, value = 0 },
      { name = "x", label = "X", at = 0, bytes = 1,
        mask = 0x02, shift = 1, value = 1 },
      { name = "m", label = "M", at = 0, bytes = 1,
        mask = 0x01, shift = 0 },
      { name = "hop_count", label = "hop count", at = 1, bytes = 1 },
      { name = "dst", label = "destination forwarding address", at = 2, bytes = 4 },
      { name = "dscp", label = "DSCP", at = 6, bytes = 1,
        mask = 0xfc, shift = 2 },
      { name = "ecn", label = "ECN", at = 6, bytes = 1,
        mask = 0x03, shift = 0 },
      { name = "entropy", label = "entropy", at = 7, bytes = 1 },
      { name = "src", label = "source forwarding address", at = 8, bytes = 4 },
      { name = "ethertype", label = "EtherType", at = 12, bytes = 2 },
    } },
  afh2c = { name = "afh2c", title = "AFH Gen 2, compressed", bytes = 14,
    ethertype = 0x88b5, prefixed = false,
    fields = {
      { name = "w", label = "W", at = 0, bytes = 1,
        mask = 0x80, shift = 7, value = 1 },
      { name = "v", label = "V", at = 0, bytes = 1,
        mask = 0x40, shift = 6, value = 0 },
      { name = "zero", label = "zero", at = 0, bytes = 1,
        mask = 0x30, shift = 4, value = 0 },
      { name = "z", label = "Z", at = 0, bytes = 1,
        mask = 0x08, shift = 3, value = 0 },
      { name = "y", label = "Y", at = 0, bytes = 1,
        mask = 0x04, shift = 2, value = 0 },
      { name = "x", label = "X", at = 0, bytes = 1,
        mask = 0x02, shift = 1, value = 1 },
      { name = "m", label = "M", at = 0, bytes = 1,
        mask = 0x01, shift = 0 },
      { name = "c_47_24", label = "C[47:24]", at = 1, bytes = 3 },
      { name = "dst", label = "destination forwarding address", at = 4, bytes = 2 },
      { name = "dscp", label = "DSCP", at = 6, bytes = 1,
        mask = 0xfc, shift = 2 },
      { name = "ecn", label = "ECN", at = 6, bytes = 1,
        mask = 0x03, shift = 0 },
      { name = "c_23_0", label = "C[23:0]", at = 7, bytes = 3 },
      { name = "src", label = "source forwarding address", at = 10, bytes = 2 },
      { name = "ethertype", label = "EtherType", at = 12, bytes = 2 },
    } },
  esun = { name = "esun", title = "ESUN", bytes = 18,
    ethertype = 0x0000, prefixed = true,
    fields = {
      { name = "prefix", label = "prefix", at = 0, bytes = 4 },
      { name = "dst", label = "destination forwarding address", at = 4, bytes = 2 },
      { name = "prefix", label = "prefix", at = 6, bytes = 4 },
      { name = "src", label = "source forwarding address", at = 10, bytes = 2 },
      { name = "ethertype", label = "EtherType", at = 12, bytes = 2 },
      { name = "revision", label = "revision", at = 14, bytes = 1,
        mask = 0xc0, shift = 6, value = 0 },
      { name = "f", label = "F", at = 14, bytes = 1,
        mask = 0x20, shift = 5 },
      { name = "cos", label = "CoS", at = 14, bytes = 1,
        mask = 0x1c, shift = 2 },
      { name = "ecn", label = "ECN", at = 14, bytes = 1,
        mask = 0x03, shift = 0 },
      { name = "flow_label", label = "flow label", at = 15, bytes = 2 },
      { name = "hop_count", label = "TTL", at = 17, bytes = 1,
        mask = 0xf0, shift = 4 },
      { name = "user_defined", label = "user-defined", at = 17, bytes = 1,
        mask = 0x0c, shift = 2 },
      { name = "reserved", label = "reserved", at = 17, bytes = 1,
        mask = 0x03, shift = 0 },
    } },
}
-- headers: end

-- Bodies of the control PDUs behind the identities, from lib/wire/control_fields.h, which tests/wire
-- writes and compares: name, label, first byte of the body (-3: the head's flags), bytes.
-- control: begin
local CONTROL = {
  [8] = { name = "HELLO", bytes = 68,
    { "reply_wanted", "Reply wanted", -3, 1, flag = 1 },
    { "unordered", "PDUs may be delivered in any order", -3, 1, flag = 2 },
    { "nonce", "Nonce", 16, 8 }, { "echo", "Nonce that this answers", 24, 8 },
    { "psn_scope", "A connection is", 32, 1 },
    { "answers_planes", "Answers PLANE and FENCE", 33, 1, flag = 1 },
    { "sends_generations", "Sends in generations", 33, 1, flag = 2 },
    { "counts_credit", "Counts credit", 33, 1, flag = 4 },
    { "hears_pauses", "Hears of planes that are held up", 33, 1, flag = 8 },
    { "answers_congestion", "Answers CONGESTION", 33, 1, flag = 16 },
    { "wants_echoes", "Wants echoes of ECN marks", 33, 1, flag = 32 },
    { "answers_path", "Answers PATH", 33, 1, flag = 64 },
    { "selective", "Repairs selectively", 33, 1, flag = 128 },
    { "window_pdus", "Window in PDUs", 34, 2 },
    { "pack_limit_bytes", "Pack limit in bytes", 36, 2 },
    { "receive_bytes", "Can receive, in bytes", 38, 2 },
    { "receive_lines", "Can receive, in lines", 40, 2 }, { "sessions", "Sessions", 42, 2 },
    { "first", "First PSN", 44, 2, count = 4 },
    { "credit_lines", "Lines that may be sent", 52, 4, count = 4 },
  },
  [9] = { name = "NOT_READY", bytes = 24,
    { "vc", "VC", 16, 1 }, { "expected", "Expected PSN", 18, 2 },
    { "backoff_us", "Back-off in microseconds", 20, 4 },
  },
  [10] = { name = "READY", bytes = 20,
    { "vc", "VC", 16, 1 }, { "expected", "Expected PSN", 18, 2 },
  },
  [11] = { name = "PLANE", bytes = 40,
    { "reply_wanted", "Reply wanted", -3, 1, flag = 1 },
    { "has_heard", "Heard is valid", -3, 1, flag = 2 },
    { "held_up", "Nothing leaves the sender on the plane that is named", -3, 1, flag = 4 },
    { "paired", "The pair of planes is settled", -3, 1, flag = 8 }, { "state", "State", 16, 1 },
    { "plane", "The sender's number of the plane", 17, 1 },
    { "tx_generation", "Generation sent", 18, 2 },
    { "rx_generation", "Generation accepted", 20, 2 },
    { "failed", "Planes that have failed to a peer, by the sender's numbers", 22, 1, mask = 15, shift = 0 },
    { "heard_plane", "1 + the receiver's number of the plane that was heard", 22, 1, mask = 112, shift = 4 },
    { "hops", "Endpoints that may pass that on", 23, 1 }, { "sequence", "Sequence", 24, 4 },
    { "heard", "Heard", 28, 4 }, { "first", "First PSN", 32, 2, count = 4 },
    { "more_psn", "PSN of a further session", 40, 2, count = 63 },
  },
  [12] = { name = "FENCE", bytes = 28,
    { "plane", "The sender's number of the plane", 16, 1 }, { "own", "The dead plane is", 17, 1 },
    { "generation", "Generation", 18, 2 },
    { "oldest", "Oldest PSN not acknowledged", 20, 2, count = 4 },
    { "more_psn", "PSN of a further session", 28, 2, count = 63 },
  },
  [13] = { name = "FENCED", bytes = 28,
    { "plane", "The sender's number of the plane", 16, 1 },
    { "repairs", "REPAIRs in front of this", 17, 1 }, { "generation", "Generation", 18, 2 },
    { "expected", "Expected PSN", 20, 2, count = 4 },
    { "more_psn", "PSN of a further session", 28, 2, count = 63 },
  },
  [14] = { name = "CREDIT", bytes = 36,
    { "grant", "Grant", -3, 1, flag = 1 }, { "give_back", "Give back", -3, 1, flag = 2 },
    { "reply_wanted", "Reply wanted", -3, 1, flag = 4 },
    { "on_demand", "Grants more when asked", -3, 1, flag = 8 }, { "vc", "VC", 16, 1 },
    { "round", "Round", 18, 2 }, { "limit", "Lines that may have been sent", 20, 4 },
    { "accepted", "Lines accepted", 24, 4 }, { "sent", "Lines sent", 28, 4 },
    { "wanted", "Lines wanted", 32, 4 },
  },
  [15] = { name = "CONGESTION", bytes = 44,
    { "request", "Request", -3, 1, flag = 1 }, { "grant", "Grant", -3, 1, flag = 2 },
    { "has_echo", "Echo", -3, 1, flag = 4 }, { "target", "Limit asked for, in 256 octets", 17, 3 },
    { "sent", "Sent, in 256 octets", 21, 3 }, { "limit", "Limit, in 256 octets", 25, 3 },
    { "granted", "Limit granted, in 256 octets", 29, 3 },
    { "received", "PDUs with commands received", 32, 4 },
    { "marked", "Received PDUs with an ECN mark", 36, 4 },
    { "trimmed", "PDUs that arrived trimmed", 40, 4 },
    { "marked_sessions", "Slots of sessions with marks", 44, 8 },
  },
  [16] = { name = "SESSION", bytes = 36,
    { "is_answer", "Answer", -3, 1, flag = 2 }, { "fence", "Fence", -3, 1, flag = 4 },
    { "anew", "Accepted anew", -3, 1, flag = 8 }, { "slot", "Slot of the session", 16, 1 },
    { "repairs", "REPAIRs in front of this", 17, 1 },
    { "number", "Number that is asked for", 18, 2 },
    { "in_use", "Number in use until then", 20, 2 }, { "turn", "Turn", 24, 4 },
    { "session_psn", "First or expected PSN", 28, 2, count = 4 },
  },
  [17] = { name = "PATH", bytes = 72,
    { "report", "Report", -3, 1, flag = 1 },
    { "long_reply", "The report has the probe's length", -3, 1, flag = 2 },
    { "class", "Class", 16, 1 }, { "has_ds", "The probe had a DSCP", 17, 1, flag = 1 },
    { "has_hops", "The probe had a hop limit", 17, 1, flag = 2 },
    { "tagged", "The probe had a tag", 17, 1, flag = 4 },
    { "sent_has_ds", "The report has a DSCP", 17, 1, flag = 8 },
    { "sent_has_hops", "The report has a hop limit", 17, 1, flag = 16 },
    { "sent_tagged", "The report has a tag", 17, 1, flag = 32 },
    { "frame_bytes", "Bytes of the probe's frame", 18, 2 },
    { "probe", "Number of the probe", 20, 4 }, { "sent_ns", "Departure of the probe in ns", 24, 8 },
    { "received_ns", "Arrival of the probe in ns", 32, 8 },
    { "order", "Probes that arrived before", 40, 4 }, { "ds", "DSCP and ECN of the probe", 44, 1 },
    { "hops", "Hop limit of the probe", 45, 1 }, { "tci", "Tag of the probe", 46, 2 },
    { "sent_ds", "DSCP and ECN of the report", 48, 1 },
    { "sent_hops", "Hop limit of the report", 49, 1 }, { "sent_tci", "Tag of the report", 50, 2 },
    { "address_drops", "Frames for other addresses", 52, 4 },
    { "rcrc_drops", "Frames with a wrong R-CRC", 56, 4 },
    { "not_sue_drops", "Frames that are not SUE's", 60, 4 }, { "trimmed", "Trimmed frames", 64, 4 },
    { "pauses", "PFC frames", 68, 4 },
  },
  [18] = { name = "REPAIR", bytes = 24,
    { "fenced_plane", "About the fence of a plane", -3, 1, flag = 1 },
    { "fenced_session", "About the fence of a session", -3, 1, flag = 2 }, { "vc", "VC", 16, 1 },
    { "slot", "Slot of the session", 17, 1 }, { "expected", "Expected PSN", 18, 2 },
    { "plane", "Fenced plane", 20, 1 }, { "generation", "Generation", 22, 2 },
    { "marks", "PSNs that have arrived, or are wanted", 24, 8, count = 64 },
  },
}
-- control: end
local ETHERNET_BYTES = 14

-- ---- Preferences --------------------------------------------------------------------------------

local AUTO, AFH1, AFH2, AFH2C = 0, 1, 2, 3
local SCOPE_PORT, SCOPE_VC = 0, 1

suede.prefs.udp_port = Pref.range("UDP ports", "3333", "Destination ports of PDUs over UDP", 65535)
suede.prefs.afh_ethertype = Pref.range("EtherTypes of AFH",
  string.format("0x%04x", HEADERS.afh1.ethertype),
  "EtherTypes of AFH Gen 1 without shim and of AFH Gen 2", 65535)

-- A header behind prefixed addresses has EtherTypes of its own.
local function has_own_ethertype(header)
  return header.prefixed and header.bytes > ETHERNET_BYTES
end
local function ethertype_pref(header)
  return header.name == "afh1s" and "shim_ethertype" or header.name .. "_ethertype"
end
for _, header in pairs(HEADERS) do
  if has_own_ethertype(header) then
    suede.prefs[ethertype_pref(header)] = Pref.range("EtherTypes of " .. header.title,
      header.ethertype ~= 0 and string.format("0x%04x", header.ethertype) or "",
      string.format("EtherTypes of %s, %d bytes", header.title, header.bytes - ETHERNET_BYTES), 65535)
  end
end
suede.prefs.link_ethertype = Pref.range("EtherTypes of links", "0xfe50",
  "EtherTypes of link frames and of the shim of link-level retry", 65535)
suede.prefs.afh_encap = Pref.enum("Encapsulation of AFH", AUTO,
  "The format of frames with an EtherType of AFH. Automatic: Gen 1 where both addresses begin with " ..
  "the MAC prefix, else Gen 2 where the first byte is one of Gen 2",
  { { "auto", "Automatic", AUTO }, { "afh1", "AFH Gen 1", AFH1 }, { "afh2", "AFH Gen 2", AFH2 },
    { "afh2c", "Compressed AFH Gen 2", AFH2C } }, false)
suede.prefs.mac_prefix = Pref.string("MAC prefix of AFH Gen 1", "02:53:55:45",
  "The four bytes in front of the forwarding address in a MAC address")
suede.prefs.default_addresses = Pref.bool("Forwarding addresses hold the XPU", true,
  "A forwarding address is (instance << 10) | xpuid. Off where a table in the configuration " ..
  "overrides it")
suede.prefs.psn_scope = Pref.enum("A connection is", SCOPE_PORT, "psn_scope of the endpoints",
  { { "port", "per port", SCOPE_PORT }, { "vc", "per port and VC", SCOPE_VC } }, false)
suede.prefs.services = Pref.bool("Commands of classes 4 to 6 are those of services", true,
  "Memory operations, message sockets and AXI4. Off where an XPU's own commands have these classes")
suede.prefs.check_rcrc = Pref.bool("Check the R-CRC", true, "Takes time in large captures")

-- A preference of numbers, "3333,4000-4010", as a list of first and last.
local function read_ranges(text)
  local ranges = {}
  for part in tostring(text):gmatch("[^,%s]+") do
    local first, last = part:match("^(%w+)-(%w+)$")
    first = tonumber(first or part)
    if first then ranges[#ranges + 1] = { first, tonumber(last) or first } end
  end
  return ranges
end

local function holds(ranges, number)
  for _, range in ipairs(ranges) do
    if number >= range[1] and number <= range[2] then return true end
  end
  return false
end

-- ---- Fields -------------------------------------------------------------------------------------

local OPS = { [0] = "ACK", [1] = "NACK", [2] = "nothing", [3] = "nothing" }
local VERSIONS = { [0] = "data PDU", [1] = "sealed data PDU",
  [2] = "sealed control PDU", [3] = "control PDU" }
local FORMS = { [0] = "S (session)", [1] = "H (HELLO)" }
local CIPHERS = { [1] = "AES-128-GCM", [2] = "AES-256-GCM" }
local HELLO, NOT_READY, READY, PLANE, FENCE, FENCED = 8, 9, 10, 11, 12, 13
local CREDIT, CONGESTION, SESSION, PATH, REPAIR = 14, 15, 16, 17, 18
local CONTROL_TYPES = {}
for type, known in pairs(CONTROL) do CONTROL_TYPES[type] = known.name end
local SCOPES = { [0] = "per port", [1] = "per port and VC" }
local PLANE_STATES = { [0] = "down", [1] = "init", [2] = "up" }
local DEAD_PLANES = { [0] = "another one", [1] = "the one that this travels on" }
local ECNS = { [0] = "Not-ECT", [1] = "ECT(1)", [2] = "ECT(0)", [3] = "CE" }
local AXI_KINDS = { [10] = "read request", [11] = "write request", [12] = "write request with attributes",
  [13] = "continuation of a write request", [14] = "answer", [15] = "continuation of an answer" }
local AXI_BURSTS = { [0] = "FIXED", [1] = "INCR", [2] = "WRAP" }
local AXI_RESPONSES = { [0] = "OKAY", [1] = "EXOKAY", [2] = "SLVERR", [3] = "DECERR" }
local AXI_STATUSES = { [0] = "OK", [16] = "BUSY", [17] = "MALFORMED", [18] = "RESET" }
local AXI_DIRECTIONS = { [0] = "write", [1] = "read" }
local MEM_OPERATIONS = { [1] = "put", [2] = "put with immediate", [3] = "get", [4] = "fetch-and-add",
  [5] = "compare-and-swap", [6] = "swap", [7] = "increment", [8] = "read-increment" }
local MEM_RESPONSES = { [1] = "acknowledgement", [2] = "data", [3] = "value" }
local MEM_STATUSES = { [0] = "OK", [16] = "NO_WINDOW", [17] = "KEY", [18] = "PARTITION", [19] = "RIGHTS",
  [20] = "BOUNDS", [21] = "ALIGNMENT", [22] = "MALFORMED", [23] = "BUSY" }
local SOCKET_KINDS = { [1] = "CONNECT", [2] = "ANNOUNCE", [3] = "ACCEPT", [4] = "CREDIT", [5] = "REFUSE",
  [6] = "CLOSED", [8] = "DATA", [9] = "END" }
local SOCKET_STATUSES = { [0] = "OK", [16] = "NOT_OPEN", [17] = "EPOCH", [18] = "MISMATCH", [19] = "CREDIT",
  [20] = "ORDER", [21] = "MALFORMED", [22] = "CLOSED", [23] = "ABORTED" }
local RCRC_BAD, RCRC_GOOD, RCRC_UNVERIFIED = 0, 1, 2
local RCRC_STATUS = { [RCRC_BAD] = "Bad", [RCRC_GOOD] = "Good", [RCRC_UNVERIFIED] = "Unverified" }

local f = {
  encap = ProtoField.string("suede.encap", "Encapsulation"),
  session = ProtoField.uint16("suede.session", "Session"),

  afh = ProtoField.none("suede.afh", "AFH"),
  afh_byte = ProtoField.uint8("suede.afh.first_byte", "First byte", base.HEX),
  afh_w = ProtoField.bool("suede.afh.w", "W (compressed)", 8, nil, 0x80),
  afh_v = ProtoField.bool("suede.afh.v", "V", 8, nil, 0x40),
  afh_zero = ProtoField.uint8("suede.afh.zero", "Zero", base.DEC, nil, 0x30),
  afh_z = ProtoField.bool("suede.afh.z", "Z", 8, nil, 0x08),
  afh_y = ProtoField.bool("suede.afh.y", "Y", 8, nil, 0x04),
  afh_x = ProtoField.bool("suede.afh.x", "X", 8, nil, 0x02),
  afh_m = ProtoField.bool("suede.afh.m", "M (multicast)", 8, nil, 0x01),
  afh_hop_count = ProtoField.uint8("suede.afh.hop_count", "Hop count"),
  afh_dst = ProtoField.uint32("suede.afh.dst", "Destination forwarding address"),
  afh_src = ProtoField.uint32("suede.afh.src", "Source forwarding address"),
  afh_dst_instance = ProtoField.uint8("suede.afh.dst_instance", "Destination instance"),
  afh_dst_xpuid = ProtoField.uint16("suede.afh.dst_xpuid", "Destination XPU"),
  afh_src_instance = ProtoField.uint8("suede.afh.src_instance", "Source instance"),
  afh_src_xpuid = ProtoField.uint16("suede.afh.src_xpuid", "Source XPU"),
  afh_dscp = ProtoField.uint8("suede.afh.dscp", "DSCP", base.DEC, nil, 0xfc),
  afh_ecn = ProtoField.uint8("suede.afh.ecn", "ECN", base.DEC, ECNS, 0x03),
  afh_entropy = ProtoField.uint16("suede.afh.entropy", "Entropy (session)"),
  afh_ethertype = ProtoField.uint16("suede.afh.ethertype", "EtherType", base.HEX),
  afh_version = ProtoField.uint8("suede.afh.version", "Version", base.DEC, nil, 0xf0),
  afh_reserved = ProtoField.uint8("suede.afh.reserved", "Reserved", base.DEC, nil, 0x0f),
  afh_next_header = ProtoField.uint8("suede.afh.next_header", "Next header", base.DEC,
    { [1] = "SUE" }),
  afh_length = ProtoField.uint16("suede.afh.length", "Bytes from RH to R-CRC"),
  afh_c_47_24 = ProtoField.uint24("suede.afh.c_high", "C[47:24]", base.HEX),
  afh_c_23_0 = ProtoField.uint24("suede.afh.c_low", "C[23:0]", base.HEX),

  rh = ProtoField.none("suede.rh", "Reliability header"),
  ver = ProtoField.uint16("suede.ver", "Version", base.DEC, VERSIONS, 0xc000),
  op = ProtoField.uint16("suede.op", "Meaning of rpsn", base.DEC, OPS, 0x3000),
  rsv = ProtoField.uint16("suede.rsv", "Reserved", base.DEC, nil, 0x0c00),
  xpuid = ProtoField.uint16("suede.xpuid", "XPU that sent the PDU", base.DEC, nil, 0x03ff),
  psn = ProtoField.uint16("suede.psn", "PSN"),
  vc = ProtoField.uint16("suede.vc", "VC", base.DEC, nil, 0xc000),
  rsvd = ProtoField.uint16("suede.rsvd", "Reserved", base.DEC, nil, 0x3c00),
  partition = ProtoField.uint16("suede.partition", "Partition", base.DEC, nil, 0x03ff),
  rpsn = ProtoField.uint16("suede.rpsn", "ACK or NACK PSN"),

  commands = ProtoField.uint16("suede.commands", "Commands"),
  commands_bytes = ProtoField.uint16("suede.commands.bytes", "Bytes of commands"),
  command = ProtoField.none("suede.command", "Command"),
  command_type = ProtoField.uint8("suede.command.type", "Type", base.HEX),
  command_class = ProtoField.uint8("suede.command.class", "Opcode class", base.DEC, nil, 0xe0),
  command_d = ProtoField.bool("suede.command.d", "D (data follows)", 8, nil, 0x10),
  command_l = ProtoField.uint8("suede.command.l", "L (control length / 2)", base.DEC, nil, 0x0f),
  command_length = ProtoField.uint8("suede.command.length", "Length byte"),
  command_control_bytes = ProtoField.uint8("suede.command.control_bytes", "Bytes of control"),
  command_data_bytes = ProtoField.uint16("suede.command.data_bytes", "Bytes of data"),
  command_control = ProtoField.bytes("suede.command.control", "Control"),
  command_data = ProtoField.bytes("suede.command.data", "Data"),
  command_padding = ProtoField.bytes("suede.command.padding", "Padding to an even offset"),
  padding = ProtoField.bytes("suede.padding", "Padding"),
  malformed = ProtoField.string("suede.malformed", "Malformed"),

  axi = ProtoField.none("suede.axi", "AXI4"),
  axi_kind = ProtoField.uint8("suede.axi.kind", "Kind", base.DEC, AXI_KINDS, 0xf0),
  axi_number = ProtoField.uint32("suede.axi.number", "Number", base.HEX),
  axi_address = ProtoField.uint64("suede.axi.address", "AxADDR", base.HEX),
  axi_len = ProtoField.uint8("suede.axi.len", "AxLEN (beats - 1)"),
  axi_size = ProtoField.uint8("suede.axi.size", "AxSIZE", base.DEC, nil, 0x1c),
  axi_burst = ProtoField.uint8("suede.axi.burst", "AxBURST", base.DEC, AXI_BURSTS, 0x03),
  axi_cache = ProtoField.uint8("suede.axi.cache", "AxCACHE", base.HEX, nil, 0x0f),
  axi_prot = ProtoField.uint8("suede.axi.prot", "AxPROT", base.HEX, nil, 0xe0),
  axi_id = ProtoField.uint32("suede.axi.id", "AxID", base.HEX),
  axi_lock = ProtoField.bool("suede.axi.lock", "AxLOCK (exclusive)", 8, nil, 0x80),
  axi_strobes = ProtoField.bool("suede.axi.strobes", "Strobes follow", 8, nil, 0x40),
  axi_qos = ProtoField.uint8("suede.axi.qos", "AxQOS", base.DEC, nil, 0xf0),
  axi_region = ProtoField.uint8("suede.axi.region", "AxREGION", base.DEC, nil, 0x0f),
  axi_beat_user_octets = ProtoField.uint8("suede.axi.beat_user_octets",
    "Octets of WUSER or RUSER per beat", base.DEC, nil, 0xe0),
  axi_user_octets = ProtoField.uint8("suede.axi.user_octets", "Octets of AxUSER or BUSER", base.DEC,
    nil, 0x1f),
  axi_user = ProtoField.bytes("suede.axi.user", "AxUSER or BUSER"),
  axi_part = ProtoField.uint8("suede.axi.part", "Part"),
  axi_direction = ProtoField.uint8("suede.axi.direction", "Answers a", base.DEC, AXI_DIRECTIONS, 0x08),
  axi_beat_responses = ProtoField.bool("suede.axi.beat_responses", "Responses of beats follow", 8, nil,
    0x04),
  axi_response = ProtoField.uint8("suede.axi.response", "Response", base.DEC, AXI_RESPONSES, 0x03),
  axi_status = ProtoField.uint8("suede.axi.status", "Status", base.DEC, AXI_STATUSES),
  axi_request_in = ProtoField.framenum("suede.axi.request_in", "Request in frame", base.NONE,
    frametype.REQUEST),
  axi_answer_in = ProtoField.framenum("suede.axi.answer_in", "Answer in frame", base.NONE,
    frametype.RESPONSE),
  axi_time = ProtoField.relative_time("suede.axi.time", "From the request to this answer"),

  mem = ProtoField.none("suede.mem", "Memory operation"),
  mem_operation = ProtoField.uint8("suede.mem.operation", "Operation", base.DEC, MEM_OPERATIONS, 0xf0),
  mem_wide = ProtoField.bool("suede.mem.wide", "W (operands of 64 bits)", 8, nil, 0x08),
  mem_response_vc = ProtoField.uint8("suede.mem.response_vc", "VC of the response", base.DEC, nil, 0x03),
  mem_number = ProtoField.uint32("suede.mem.number", "Number", base.HEX),
  mem_window = ProtoField.uint16("suede.mem.window", "Window"),
  mem_key = ProtoField.uint32("suede.mem.key", "Key", base.HEX),
  mem_offset = ProtoField.uint64("suede.mem.offset", "Offset in the window", base.HEX),
  mem_length = ProtoField.uint16("suede.mem.length", "Octets of memory"),
  mem_immediate = ProtoField.uint32("suede.mem.immediate", "Immediate", base.HEX),
  mem_put_length = ProtoField.uint32("suede.mem.put_length", "Octets of the whole put"),
  mem_amount = ProtoField.uint64("suede.mem.amount", "Amount"),
  mem_expected = ProtoField.uint64("suede.mem.expected", "Expected value", base.HEX),
  mem_desired = ProtoField.uint64("suede.mem.desired", "Value to store", base.HEX),
  mem_boundary = ProtoField.uint8("suede.mem.boundary", "Boundary n"),
  mem_response = ProtoField.uint8("suede.mem.response", "Response", base.DEC, MEM_RESPONSES, 0xf0),
  mem_status = ProtoField.uint8("suede.mem.status", "Status", base.DEC, MEM_STATUSES),
  mem_count = ProtoField.uint16("suede.mem.count", "Requests that are answered"),
  mem_old_value = ProtoField.uint64("suede.mem.old_value", "Old value", base.HEX),
  mem_request_in = ProtoField.framenum("suede.mem.request_in", "Request in frame", base.NONE,
    frametype.REQUEST),
  mem_response_in = ProtoField.framenum("suede.mem.response_in", "Response in frame", base.NONE,
    frametype.RESPONSE),
  mem_time = ProtoField.relative_time("suede.mem.time", "From the first request to this response"),

  socket = ProtoField.none("suede.socket", "Message socket"),
  socket_kind = ProtoField.uint8("suede.socket.kind", "Kind", base.DEC, SOCKET_KINDS, 0xf0),
  socket_first = ProtoField.bool("suede.socket.first", "First of a datagram", 8, nil, 0x01),
  socket_last = ProtoField.bool("suede.socket.last", "Last of a datagram", 8, nil, 0x02),
  socket_wants_credit = ProtoField.bool("suede.socket.wants_credit", "Answer with CREDIT", 8, nil, 0x04),
  socket_datagram = ProtoField.bool("suede.socket.datagram", "Datagrams", 8, nil, 0x01),
  socket_private = ProtoField.bool("suede.socket.private", "Private", 8, nil, 0x02),
  socket_vc = ProtoField.uint8("suede.socket.vc", "VC of the data", base.DEC, nil, 0x30),
  socket_status = ProtoField.uint8("suede.socket.status", "Status", base.DEC, SOCKET_STATUSES),
  socket_tag = ProtoField.uint32("suede.socket.tag", "Tag", base.HEX),
  socket_own_tag = ProtoField.uint32("suede.socket.own_tag", "Own tag", base.HEX),
  socket_epoch = ProtoField.uint32("suede.socket.epoch", "Epoch"),
  socket_id = ProtoField.uint16("suede.socket.id", "Id"),
  socket_limit = ProtoField.uint32("suede.socket.limit", "Limit"),
  socket_received = ProtoField.uint32("suede.socket.received", "Received"),
  socket_released = ProtoField.uint32("suede.socket.released", "Released"),
  socket_number = ProtoField.uint32("suede.socket.number", "Number"),
  socket_length = ProtoField.uint16("suede.socket.length", "Octets"),
  socket_stream = ProtoField.uint32("suede.socket.stream", "Stream"),
  socket_offset = ProtoField.uint64("suede.socket.offset", "Offset in the stream"),
  socket_message = ProtoField.uint32("suede.socket.message", "Datagram of the stream"),
  socket_message_offset = ProtoField.uint64("suede.socket.message_offset", "Offset in the datagram"),
  socket_message_length = ProtoField.uint64("suede.socket.message_length", "Octets of the datagram"),
  socket_first_in = ProtoField.framenum("suede.socket.first_in", "Datagram begins in frame"),
  socket_last_in = ProtoField.framenum("suede.socket.last_in", "Datagram ends in frame"),
  socket_request_in = ProtoField.framenum("suede.socket.request_in", "Answers frame", base.NONE,
    frametype.REQUEST),
  socket_answer_in = ProtoField.framenum("suede.socket.answer_in", "Answer in frame", base.NONE,
    frametype.RESPONSE),
  socket_time = ProtoField.relative_time("suede.socket.time", "From the command to this answer"),

  control = ProtoField.none("suede.control", "Control PDU"),
  control_type = ProtoField.uint8("suede.control.type", "Type", base.DEC, CONTROL_TYPES),
  control_flags = ProtoField.uint8("suede.control.flags", "Flags", base.HEX),
  control_length = ProtoField.uint16("suede.control.length", "Body length"),
  control_identity = ProtoField.uint64("suede.control.identity", "Identity", base.HEX),
  control_peer_identity = ProtoField.uint64("suede.control.peer_identity", "Peer's identity",
    base.HEX),
  control_features = ProtoField.uint8("suede.control.features", "Features", base.HEX),
  control_reserved = ProtoField.bytes("suede.control.reserved", "Reserved"),
  control_rest = ProtoField.bytes("suede.control.rest", "Behind the known body, ignored"),

  seal = ProtoField.none("suede.seal", "Seal"),
  seal_form = ProtoField.uint8("suede.seal.form", "Form", base.DEC, FORMS, 0x80),
  seal_zero = ProtoField.uint8("suede.seal.zero", "Zero", base.HEX, nil, 0x70),
  seal_cipher = ProtoField.uint8("suede.seal.cipher", "Cipher", base.DEC, CIPHERS, 0x0f),
  seal_epoch = ProtoField.uint8("suede.seal.epoch", "Epoch, modulo 4", base.DEC, nil, 0x0c),
  seal_echo = ProtoField.uint8("suede.seal.echo", "Echo, modulo 4", base.DEC, nil, 0x03),
  seal_secret_id = ProtoField.uint8("suede.seal.secret_id", "Secret id"),
  seal_identity = ProtoField.uint64("suede.seal.identity", "Identity", base.HEX),
  seal_stream = ProtoField.uint8("suede.seal.stream", "Stream"),
  seal_packet_number = ProtoField.uint64("suede.seal.packet_number",
    "Packet number, with the stream", base.HEX),
  seal_text = ProtoField.bytes("suede.seal.text", "Encrypted"),
  seal_tag = ProtoField.bytes("suede.seal.tag", "Tag"),

  rcrc = ProtoField.uint32("suede.rcrc", "R-CRC", base.HEX),
  rcrc_calculated = ProtoField.uint32("suede.rcrc.calculated", "Calculated R-CRC", base.HEX),
  rcrc_status = ProtoField.uint8("suede.rcrc.status", "R-CRC status", base.DEC, RCRC_STATUS),
  fcs = ProtoField.bytes("suede.fcs", "Frame check sequence"),
  trailer = ProtoField.bytes("suede.trailer", "Behind the PDU, ignored"),

  connection = ProtoField.uint32("suede.connection", "Connection"),
  direction = ProtoField.string("suede.connection.direction", "Direction"),
  analysis = ProtoField.none("suede.analysis", "Analysis"),
  sequenced = ProtoField.bool("suede.analysis.sequenced", "Sequenced"),
  retransmission = ProtoField.bool("suede.analysis.retransmission", "Retransmission"),
  original = ProtoField.framenum("suede.analysis.original_frame", "First sent in frame"),
  cause = ProtoField.framenum("suede.analysis.cause_frame", "Asked for in frame"),
  out_of_order = ProtoField.bool("suede.analysis.out_of_order", "Out of order"),
  gap = ProtoField.uint32("suede.analysis.gap", "PDUs missing before this one"),
  tail_gap = ProtoField.bool("suede.analysis.tail_gap", "The tail is missing"),
  outside = ProtoField.bool("suede.analysis.outside_window", "PSN outside the window"),
  acks_to = ProtoField.uint16("suede.analysis.acks_to", "Acknowledges up to PSN"),
  acks_frame = ProtoField.framenum("suede.analysis.acks_frame", "Acknowledges the PDU in frame",
    base.NONE, frametype.ACK),
  acked_frame = ProtoField.framenum("suede.analysis.acked_frame", "Acknowledged in frame",
    base.NONE, frametype.ACK),
  ack_time = ProtoField.relative_time("suede.analysis.ack_time", "From the PDU to this ACK"),
  duplicate_ack = ProtoField.uint32("suede.analysis.duplicate_ack", "Duplicate ACK"),
  duplicate_of = ProtoField.framenum("suede.analysis.duplicate_of_frame", "First ACK in frame",
    base.NONE, frametype.DUP_ACK),
  acks_unseen = ProtoField.bool("suede.analysis.acks_unseen", "Acknowledges a PDU not captured"),
  nack = ProtoField.bool("suede.analysis.nack", "NACK"),
  duplicate_nack = ProtoField.uint32("suede.analysis.duplicate_nack", "Duplicate NACK"),
  not_ready = ProtoField.bool("suede.analysis.not_ready", "Receiver not ready"),
  restart = ProtoField.bool("suede.analysis.restart", "PSNs start over"),
}
-- Headers but those of AFH have fields of their own, as their declaration has them.
for _, header in pairs(HEADERS) do
  for _, field in ipairs(header.fields) do
    local key = header.name .. "_" .. field.name
    if header.name:sub(1, 3) == "afh" then
      field.proto = f["afh_" .. field.name]
    elseif field.at >= ETHERNET_BYTES and field.bytes <= 4 then
      f[key] = ProtoField["uint" .. 8 * field.bytes](
        string.format("suede.%s.%s", header.name, field.name), field.label, base.DEC, nil, field.mask)
      field.proto = f[key]
    end
  end
end
-- A field of several control PDUs is one, unless its label or its bit differs.
local CONTROL_VALUES = { psn_scope = SCOPES, state = PLANE_STATES, own = DEAD_PLANES }
local control_bytes = {}  -- by name: of the widest, as one name has one type
for _, known in pairs(CONTROL) do
  for _, row in ipairs(known) do
    row.at, row.bytes = row[3], row[4]
    control_bytes[row[1]] = math.max(control_bytes[row[1]] or 0, row.bytes)
  end
end
for _, known in pairs(CONTROL) do
  for _, row in ipairs(known) do
    local name, label = row[1], row[2]
    local key, abbreviation = name .. label .. (row.flag or ""), "suede.control." .. name
    local radix = (row.bytes == 8 or name == "failed") and base.HEX or base.DEC
    f[key] = f[key] or row.flag and ProtoField.bool(abbreviation, label, 8, nil, row.flag)
      or ProtoField["uint" .. 8 * control_bytes[name]](abbreviation, label, radix,
        CONTROL_VALUES[name], row.mask)
    row.field = f[key]
  end
end

local field_list = {}
for _, field in pairs(f) do field_list[#field_list + 1] = field end
suede.fields = field_list

-- Whether one of these fields is going to be shown. Otherwise most time is spent on items that are
-- not shown: all, where Wireshark reads a file or tshark writes PSNs.
local function is_wanted(tree, fields)
  if tree.visible then return true end
  for _, field in ipairs(fields) do
    if tree:referenced(field) then return true end
  end
  return false
end

local RH_FIELDS = { f.ver, f.op, f.rsv, f.xpuid, f.psn, f.vc, f.rsvd, f.partition, f.rpsn }
local COMMAND_FIELDS = { f.command, f.command_type, f.command_class, f.command_d, f.command_l,
  f.command_length, f.command_control_bytes, f.command_data_bytes, f.command_control,
  f.command_data, f.command_padding }
for key, field in pairs(f) do
  if key:find("^axi") or key:find("^mem") or key:find("^socket") then
    COMMAND_FIELDS[#COMMAND_FIELDS + 1] = field
  end
end

-- ---- Expert infos -------------------------------------------------------------------------------

local function expert_info(name, text, group, severity)
  return ProtoExpert.new("suede." .. name, text, expert.group[group], expert.severity[severity])
end

local e = {
  short = expert_info("malformed.short", "Malformed: too short for RH and R-CRC",
    "MALFORMED", "ERROR"),
  length = expert_info("malformed.length", "Malformed: a command's L is 10 to 15",
    "MALFORMED", "ERROR"),
  overrun = expert_info("malformed.overrun", "Malformed: a command runs past the R-CRC",
    "MALFORMED", "ERROR"),
  padding = expert_info("malformed.padding", "Malformed: padding is not zero",
    "MALFORMED", "ERROR"),
  control = expert_info("malformed.control", "Malformed: control PDU", "MALFORMED", "ERROR"),
  shim = expert_info("malformed.shim", "Malformed: the shim's length does not fit the frame",
    "MALFORMED", "ERROR"),
  seal = expert_info("malformed.seal", "Malformed: the shim of a sealed PDU", "MALFORMED", "ERROR"),
  sealed = expert_info("seal.sealed",
    "Sealed: suedectl frame decode --keys FILE --output pcap writes plain frames", "DECRYPTION", "NOTE"),
  axi = expert_info("axi.malformed", "Malformed AXI4: a receiver refuses or drops it", "MALFORMED",
    "ERROR"),
  mem = expert_info("mem.malformed", "Malformed memory operation: a target refuses or drops it",
    "MALFORMED", "ERROR"),
  mem_refused = expert_info("mem.refused", "The target refused requests", "RESPONSE_CODE", "WARN"),
  socket = expert_info("socket.malformed", "Malformed command of sockets: a receiver refuses it",
    "MALFORMED", "ERROR"),
  socket_refused = expert_info("socket.refused", "A command of sockets was refused", "RESPONSE_CODE",
    "NOTE"),
  unknown_control = expert_info("control.unknown", "Unknown type of control PDU: ignored",
    "UNDECODED", "NOTE"),
  cut = expert_info("cut", "The capture holds the beginning of the PDU only", "UNDECODED", "NOTE"),
  source = expert_info("source.mismatch",
    "The source address is not that of the XPU in the RH: a receiver drops it", "PROTOCOL", "WARN"),
  hops = expert_info("afh.hops_used_up", "Hop limit 0: a receiver drops it", "PROTOCOL", "WARN"),
  w = expert_info("afh.w_mismatch", "W and the encapsulation that was set contradict each other",
    "PROTOCOL", "WARN"),
  window = expert_info("control.window_too_large",
    "A window of more than 16384 PDUs: a receiver refuses the HELLO", "PROTOCOL", "WARN"),
  plane_down = expert_info("control.plane_down", "The sender sees this plane as down",
    "SEQUENCE", "NOTE"),
  fence = expert_info("control.plane_dead", "A plane was found dead with PDUs in doubt",
    "SEQUENCE", "WARN"),
  scope = expert_info("control.psn_scope_mismatch",
    "HELLO's psn_scope and the preference psn_scope contradict each other", "ASSUMPTION", "WARN"),
  rcrc = expert_info("rcrc.bad", "Bad R-CRC", "CHECKSUM", "ERROR"),
  retransmission = expert_info("expert.retransmission", "Retransmission", "SEQUENCE", "NOTE"),
  out_of_order = expert_info("expert.out_of_order",
    "Out of order: late, or sent again after it was lost before the capture", "SEQUENCE", "NOTE"),
  gap = expert_info("expert.gap", "PSN ahead of the expected one", "SEQUENCE", "WARN"),
  tail_gap = expert_info("expert.tail_gap", "PDUs before this one have not been captured yet",
    "SEQUENCE", "NOTE"),
  outside = expert_info("expert.outside_window",
    "PSN outside the window: analysis starts over from here", "SEQUENCE", "WARN"),
  nack = expert_info("expert.nack", "NACK", "SEQUENCE", "WARN"),
  duplicate_ack = expert_info("expert.duplicate_ack", "Duplicate ACK", "SEQUENCE", "NOTE"),
  acks_unseen = expert_info("expert.acks_unseen", "Acknowledges a PDU that was not captured",
    "SEQUENCE", "WARN"),
  not_ready = expert_info("expert.not_ready", "The receiver has no room", "SEQUENCE", "NOTE"),
  restart = expert_info("expert.restart", "New boot of an endpoint: PSNs start over",
    "SEQUENCE", "CHAT"),
}
local expert_list = {}
for _, info in pairs(e) do expert_list[#expert_list + 1] = info end
suede.experts = expert_list

local function add_generated(tree, ...)
  return tree:add(...):set_generated()
end

-- ---- R-CRC --------------------------------------------------------------------------------------

local bits = bit32 or bit
local bxor, band, rshift = bits.bxor, bits.band, bits.rshift
local CRC_TABLE = {}
for byte = 0, 255 do
  local crc = byte
  for _ = 1, 8 do
    local low = band(crc, 1)
    crc = rshift(crc, 1)
    if low == 1 then crc = bxor(crc, 0xEDB88320) end
  end
  CRC_TABLE[byte] = crc
end

local function crc32(bytes)
  local crc = 0xFFFFFFFF
  for at = 1, #bytes do
    crc = bxor(CRC_TABLE[band(bxor(crc, bytes:byte(at)), 0xFF)], rshift(crc, 8))
  end
  return bxor(crc, 0xFFFFFFFF) % 2 ^ 32  -- `bit` knows signed numbers only
end

-- The R-CRC that a PDU should have. The RH is a string of its own because that of a
-- compressed header is nowhere in the frame.
local function calculate_rcrc(rh, tvb, from, to)
  return crc32(rh .. (to > from and tvb:raw(from, to - from) or ""))
end

-- ---- AXI4 ---------------------------------------------------------------------------------------

local AXI_FIRST, AXI_END = 0xc0, 0xe0  -- first octets of class 6
local axi_exchanges  -- by partition and number: frames and times of a request and its answer
local dissect_axi
do  -- Lua permits 200 local names in one block.

local AXI_CONTROL_BYTES = { [10] = 18, [11] = 18, [12] = 18, [13] = 8, [14] = 10, [15] = 8 }
local AXI_READ, AXI_WRITE_WITH_ATTRIBUTES, AXI_ANSWER = 10, 12, 14
local ATTRIBUTE_BYTES, MAX_USER_BYTES, MAX_BEAT_USER_BYTES = 6, 16, 4
local FIXED, INCR, WRAP = 0, 1, 2
local SLVERR = 2

-- `count` bits of a number from bit `low` on.
local function bits_of(number, low, count)
  return math.floor(number / 2 ^ low) % 2 ^ count
end

local function is_one_of(value, ...)
  for _, other in ipairs({...}) do
    if value == other then return true end
  end
  return false
end

-- The rule of AXI4 that a burst breaks.
local function find_burst_violation(burst)
  local beats, size = burst.len + 1, 2 ^ burst.size
  local bytes = beats * size
  if burst.type == FIXED then
    if beats > 16 then return "a FIXED burst has more than 16 beats" end
  elseif burst.type == INCR then
    if burst.offset - burst.offset % size + bytes > 4096 then return "a burst crosses a 4 KiB boundary" end
  elseif burst.type == WRAP then
    if not is_one_of(beats, 2, 4, 8, 16) then return "a WRAP burst does not have 2, 4, 8 or 16 beats" end
    if burst.offset % size ~= 0 then return "a WRAP burst is not aligned" end
  else
    return "AxBURST is 3"
  end
  if not burst.lock then return nil end
  if beats > 16 then return "an exclusive access has more than 16 beats" end
  if not is_one_of(bytes, 1, 2, 4, 8, 16, 32, 64, 128) then
    return "the bytes of an exclusive access are not a power of 2 up to 128"
  end
  if burst.offset % bytes ~= 0 then return "an exclusive access is not aligned" end
end

local function active_bytes(burst)
  local size = 2 ^ burst.size
  local first = size - burst.offset % size
  return first + burst.len * (burst.type == FIXED and first or size)
end

-- Reads the attributes in front of a body. Returns the rule that they break.
local function read_attributes(axi, data)
  if #data < ATTRIBUTE_BYTES then return "attributes are not whole" end
  local flags, _, _, _, _, octets = data:byte(1, ATTRIBUTE_BYTES)
  axi.user_bytes, axi.beat_user_bytes = octets % 32, bits_of(octets, 5, 3)
  if flags % 64 ~= 0 then return "reserved bits are set" end
  if axi.user_bytes > MAX_USER_BYTES or axi.beat_user_bytes > MAX_BEAT_USER_BYTES then
    return "a user value is too long"
  end
  if #data < ATTRIBUTE_BYTES + axi.user_bytes then return "attributes are not whole" end
  axi.attribute_bytes = ATTRIBUTE_BYTES + axi.user_bytes
  axi.burst.lock, axi.has_strobes = flags >= 128, flags % 128 >= 64
  if axi.kind == AXI_READ and (axi.has_strobes or axi.beat_user_bytes ~= 0) then
    return "a read has neither strobes nor WUSER"
  end
  if axi.user_bytes ~= 0 and data:byte(ATTRIBUTE_BYTES + 1) == 0 then return "AxUSER begins with 0" end
  if not data:sub(1, ATTRIBUTE_BYTES):find("[^\0]") then return "attributes are all default" end
end

local function read_axi_request(axi, control, data)
  local shape = control:byte(17)
  axi.burst = { offset = control:byte(14) % 16 * 256 + control:byte(15), len = control:byte(16),
    size = bits_of(shape, 2, 3), type = shape % 4 }
  axi.attribute_bytes, axi.beat_user_bytes = 0, 0
  local is_read = axi.kind == AXI_READ
  if not is_read and data == "" then return "a write has no data" end
  if axi.kind == AXI_WRITE_WITH_ATTRIBUTES or is_read and data ~= "" then
    local broken = read_attributes(axi, data)
    if broken then return broken end
  end
  local broken = find_burst_violation(axi.burst)
  if broken then return broken end
  local bytes = axi.attribute_bytes
  if not is_read then
    local active = active_bytes(axi.burst)
    bytes = bytes + axi.beat_user_bytes * (axi.burst.len + 1) + active
    if axi.has_strobes then bytes = bytes + math.ceil(active / 8) end
  end
  if #data ~= math.min(bytes, 256) then return "the data does not have the length of the request" end
end

local function read_axi_answer(axi, control, data)
  local flags, status, octets = control:byte(3), control:byte(8), control:byte(9)
  local is_read, has_responses = bits_of(flags, 3, 1) == 1, bits_of(flags, 2, 1) == 1
  axi.user_bytes = octets % 32
  if control:byte(10) ~= 0 then return "octet 9 is not 0" end
  if not AXI_STATUSES[status] then return "targets do not give this status" end
  if status ~= 0 then
    if flags % 4 ~= SLVERR or has_responses or octets ~= 0 or data ~= "" then
      return "an answer with another status than OK has SLVERR alone"
    end
  elseif is_read then
    if octets >= 32 * (MAX_BEAT_USER_BYTES + 1) or axi.user_bytes ~= 0 then
      return "octets of user values of a read"
    end
    if data == "" then return "a read's answer has no data" end
  else
    if has_responses or octets > MAX_USER_BYTES then return "an answer to a write has BUSER alone" end
    if #data ~= axi.user_bytes then return "BUSER does not have its length" end
    if data:byte(1) == 0 then return "BUSER begins with 0" end
  end
end

-- Reads a command of class 6 from its octets: nil where it is none of AXI4. `broken` is the rule that it
-- breaks, as far as one command shows.
local function read_axi(control, data)
  local third = control:byte(3)
  if not third then return nil end
  local axi = { kind = bits_of(third, 4, 4) }
  if AXI_CONTROL_BYTES[axi.kind] ~= #control then return nil end
  if axi.kind <= AXI_WRITE_WITH_ATTRIBUTES then
    axi.broken = read_axi_request(axi, control, data)
  elseif axi.kind == AXI_ANSWER then
    axi.broken = read_axi_answer(axi, control, data)
  elseif third % 16 ~= 0 then
    axi.broken = "reserved bits are set"
  elseif control:byte(8) == 0 then
    axi.broken = "continuation 0"
  elseif data == "" then
    axi.broken = "a continuation has no data"
  end
  return axi
end

local function show_axi_request(axi, tvb, at, data_at, item)
  item:add(f.axi_address, tvb(at + 7, 8))
  item:add(f.axi_len, tvb(at + 15, 1)):append_text(string.format(": %d beats", axi.burst.len + 1))
  item:add(f.axi_size, tvb(at + 16, 1)):append_text(string.format(": %d octets", 2 ^ axi.burst.size))
  item:add(f.axi_burst, tvb(at + 16, 1))
  item:add(f.axi_cache, tvb(at + 2, 1))
  item:add(f.axi_prot, tvb(at + 16, 1))
  local id = tvb(at + 17, 1):uint()
  if axi.attribute_bytes > 0 then id = id + tvb(data_at + 2, 3):uint() * 256 end
  item:add(f.axi_id, tvb(at + 17, 1), id)
  if axi.attribute_bytes > 0 then
    item:add(f.axi_lock, tvb(data_at, 1))
    item:add(f.axi_strobes, tvb(data_at, 1))
    item:add(f.axi_qos, tvb(data_at + 1, 1))
    item:add(f.axi_region, tvb(data_at + 1, 1))
    item:add(f.axi_beat_user_octets, tvb(data_at + 5, 1))
    item:add(f.axi_user_octets, tvb(data_at + 5, 1))
    if axi.user_bytes > 0 then
      item:add(f.axi_user, tvb(data_at + ATTRIBUTE_BYTES, axi.user_bytes))
    end
  end
  return string.format(" 0x%s %s %d x %d", tvb(at + 7, 8):bytes():tohex(true),
    AXI_BURSTS[axi.burst.type] or "AxBURST 3", axi.burst.len + 1, 2 ^ axi.burst.size)
end

local function show_axi_answer(axi, tvb, at, data_at, item)
  local status, response = tvb(at + 7, 1):uint(), tvb(at + 2, 1):bitfield(6, 2)
  item:add(f.axi_direction, tvb(at + 2, 1))
  item:add(f.axi_beat_responses, tvb(at + 2, 1))
  item:add(f.axi_response, tvb(at + 2, 1))
  item:add(f.axi_status, tvb(at + 7, 1))
  item:add(f.axi_beat_user_octets, tvb(at + 8, 1))
  item:add(f.axi_user_octets, tvb(at + 8, 1))
  if axi.user_bytes > 0 and not axi.broken then item:add(f.axi_user, tvb(data_at, axi.user_bytes)) end
  return string.format(" to a %s, %s %s", AXI_DIRECTIONS[tvb(at + 2, 1):bitfield(4, 1)],
    AXI_STATUSES[status] or string.format("status %d", status), AXI_RESPONSES[response])
end

-- Shows a command of AXI4. Returns its item.
local function show_axi(axi, tvb, at, control_bytes, data_bytes, tree)
  local item = tree:add(f.axi, tvb(at, control_bytes + data_bytes))
  local data_at = at + control_bytes
  item:add(f.axi_kind, tvb(at + 2, 1))
  item:add(f.axi_number, tvb(at + 3, 4))
  local text
  if axi.burst then
    text = show_axi_request(axi, tvb, at, data_at, item)
  elseif axi.kind == AXI_ANSWER then
    text = show_axi_answer(axi, tvb, at, data_at, item)
  else
    item:add(f.axi_part, tvb(at + 7, 1))
    text = string.format(", part %d", tvb(at + 7, 1):uint())
  end
  text = string.format("AXI4 %s%s, number 0x%s", AXI_KINDS[axi.kind], text, tvb(at + 3, 4):bytes():tohex(true))
  item:set_text(text)
  tree:append_text(": " .. text)
  return item
end

-- Returns the exchange of a command, nil before its request. The first request and the first answer
-- of a number count; others are retransmissions. An XPU does not answer itself.
local function follow_exchange(axi, number, pdu, pinfo)
  local key = pdu.partition .. ":" .. number
  local exchange = axi_exchanges[key]
  if pinfo.visited or pinfo.in_error_pkt then return exchange end
  if axi.burst and not exchange then
    exchange = { xpuid = pdu.xpuid, request = pinfo.number, time = pinfo.rel_ts }
    axi_exchanges[key] = exchange
  elseif exchange and axi.kind == AXI_ANSWER and pdu.xpuid ~= exchange.xpuid and not exchange.answer then
    exchange.answer, exchange.duration = pinfo.number, pinfo.rel_ts - exchange.time
  end
  return exchange
end

local function show_exchange(axi, exchange, pdu, item)
  if axi.kind < AXI_ANSWER and pdu.xpuid == exchange.xpuid then
    if exchange.answer then add_generated(item, f.axi_answer_in, exchange.answer) end
  elseif axi.kind >= AXI_ANSWER and pdu.xpuid ~= exchange.xpuid then
    add_generated(item, f.axi_request_in, exchange.request)
    if axi.kind == AXI_ANSWER and exchange.duration then
      local nanoseconds = math.floor(exchange.duration * 1e9 + 0.5)
      add_generated(item, f.axi_time, NSTime.new(math.floor(nanoseconds / 1e9), nanoseconds % 1e9))
    end
  end
end

-- Shows a command of AXI4 below that of its octets, and the rule that it breaks in any case.
function dissect_axi(octets, tvb, at, control_bytes, data_bytes, shown, tree, pdu, pinfo)
  local axi = read_axi(octets:sub(1, control_bytes), octets:sub(control_bytes + 1, control_bytes + data_bytes))
  if not axi then return end
  local exchange = follow_exchange(axi, octets:sub(4, 7), pdu, pinfo)
  local item = shown and show_axi(axi, tvb, at, control_bytes, data_bytes, tree) or tree
  if shown and exchange then show_exchange(axi, exchange, pdu, item) end
  if axi.broken then item:add_proto_expert_info(e.axi, "Malformed AXI4: " .. axi.broken) end
end

end

-- ---- Services -----------------------------------------------------------------------------------
--
-- Memory operations and message sockets: a command is read where the PDU's commands are shown, and
-- followed once the R-CRC has been checked. Results that depend on earlier frames are kept under the
-- frame's number and the command's place in it.

local services = { readers = {}, followers = {} }  -- by the class of a command
local service_notes  -- by frame: by the command's place, the result of following it

-- A big-endian number of `count` octets from octet `at` on, counted from 0.
function services.number(octets, at, count)
  local value = 0
  for i = at + 1, at + count do value = value * 256 + octets:byte(i) end
  return value
end

function services.add_time(item, field, seconds)
  local nanoseconds = math.floor(seconds * 1e9 + 0.5)
  add_generated(item, field, NSTime.new(math.floor(nanoseconds / 1e9), nanoseconds % 1e9))
end

-- The captured octets of a command, without padding.
function services.range(command)
  local bytes = command.control_bytes + command.data_bytes
  return command.tvb(command.at, math.min(#command.octets, bytes))
end

-- Reads a command: tvb, at, control_bytes, data_bytes, shown, tree; `octets` is as much as was
-- captured, at least the control. Notes it in the PDU, and shows it and the rule that it breaks.
function services.read(command, pdu)
  command.class = math.floor(command.octets:byte() / 32)
  local reader = services.readers[command.class]
  if not reader or not reader.read(command) then return end
  pdu.services = pdu.services or {}
  pdu.services[#pdu.services + 1] = command
  command.item = command.shown and reader.show(command) or command.tree
  if command.broken then
    command.item:add_proto_expert_info(reader.expert, reader.title .. ": " .. command.broken)
  end
end

function services.follow(pdu, link, pinfo)
  local notes = service_notes[pinfo.number]
  if not notes then
    notes = {}
    service_notes[pinfo.number] = notes
    for place, command in ipairs(pdu.services) do
      notes[place] = services.followers[command.class].follow(command, pdu, link, pinfo)
    end
  end
  for place, command in ipairs(pdu.services) do
    if command.shown and notes[place] then
      services.followers[command.class].show(notes[place], command, pinfo.number)
    end
  end
end

-- ---- Memory operations (docs/memory.md) ---------------------------------------------------------

do

local REQUEST_CLASS, RESPONSE_CLASS = 4, 5
local REQUEST_CONTROL_BYTES = 18
local RESPONSE_CONTROL_BYTES = { [1] = 10, [2] = 8, [3] = 16 }
local PUT, PUT_IMMEDIATE, GET, COMPARE_SWAP, INCREMENT = 1, 2, 3, 5, 7
local ACKNOWLEDGEMENT, DATA, VALUE = 1, 2, 3
local IMMEDIATE_HEAD_BYTES = 8
local NUMBERS = 2 ^ 32
local number = services.number
local spaces  -- by partition: `requests` by number, as lists, and `count`, how many numbers there are

-- The rule that a put breaks. Sets `length`, and of a put with immediate the octets of its head.
local function read_put(request)
  if request.is_wide then return "W is set" end
  if request.data_bytes == 0 then return "a put has no data" end
  request.length = request.data_bytes
  if request.operation == PUT then return nil end
  if request.data_bytes < IMMEDIATE_HEAD_BYTES then return "the immediate is not whole" end
  request.length = request.data_bytes - IMMEDIATE_HEAD_BYTES
  local data = request.octets:sub(REQUEST_CONTROL_BYTES + 1)
  if #data < IMMEDIATE_HEAD_BYTES then return nil end  -- cut
  request.has_head = true
  local whole = number(data, 4, 4)
  if whole < request.length then return "the whole put is shorter than this request" end
  if whole > request.offset + request.length then return "the whole put begins below offset 0" end
end

local function read_atomic(request)
  local one = request.is_wide and 8 or 4
  local expected = one
  if request.operation == COMPARE_SWAP then expected = 2 * one end
  if request.operation >= INCREMENT then expected = one + 1 end
  request.length = one
  if request.data_bytes ~= expected then return "the operands do not have their length" end
  request.operand_bytes = #request.octets - REQUEST_CONTROL_BYTES >= expected and one or nil
  if request.operand_bytes and request.operation >= INCREMENT and
     request.octets:byte(REQUEST_CONTROL_BYTES + one + 1) >= 8 * one then
    return "the boundary is not within the operand"
  end
end

local function read_operation(request)
  if math.floor(request.octets:byte(3) / 4) % 2 == 1 then return "a reserved bit is set" end
  if not MEM_OPERATIONS[request.operation] then return "there is no such operation" end
  if request.operation == GET then
    request.length = request.octets:byte(2) + 1
    if request.data_bytes ~= 0 then return "a get has data" end
    return request.is_wide and "W is set" or nil
  end
  if request.operation < GET then return read_put(request) end
  return read_atomic(request)
end

local function read_request(request)
  if request.control_bytes ~= REQUEST_CONTROL_BYTES then return false end
  local third = request.octets:byte(3)
  request.operation, request.is_wide = math.floor(third / 16), math.floor(third / 8) % 2 == 1
  request.number, request.offset = number(request.octets, 3, 4), number(request.octets, 13, 5)
  request.broken = read_operation(request)
  return true
end

local function show_operands(request, item)
  local tvb, at = request.tvb, request.at + REQUEST_CONTROL_BYTES
  if request.has_head then
    item:add(f.mem_immediate, tvb(at, 4))
    item:add(f.mem_put_length, tvb(at + 4, 4))
  end
  local one = request.operand_bytes
  if not one then return end
  if request.operation == COMPARE_SWAP then
    item:add(f.mem_expected, tvb(at, one))
    item:add(f.mem_desired, tvb(at + one, one))
  elseif request.operation == COMPARE_SWAP + 1 then
    item:add(f.mem_desired, tvb(at, one))
  else
    item:add(f.mem_amount, tvb(at, one))
    if request.operation >= INCREMENT then item:add(f.mem_boundary, tvb(at + one, 1)) end
  end
end

local function set_text(command, item, text)
  item:set_text("Memory " .. text)
  command.tree:append_text(": memory " .. text)
end

local function show_request(request)
  local tvb, at = request.tvb, request.at
  local item = request.tree:add(f.mem, services.range(request))
  item:add(f.mem_operation, tvb(at + 2, 1))
  item:add(f.mem_wide, tvb(at + 2, 1))
  item:add(f.mem_response_vc, tvb(at + 2, 1))
  item:add(f.mem_number, tvb(at + 3, 4))
  item:add(f.mem_window, tvb(at + 7, 2))
  item:add(f.mem_key, tvb(at + 9, 4))
  item:add(f.mem_offset, tvb(at + 13, 5))
  if request.length then add_generated(item, f.mem_length, tvb(at + 1, 1), request.length) end
  show_operands(request, item)
  set_text(request, item, string.format("%s, window %d, offset 0x%s%s, number 0x%s",
    MEM_OPERATIONS[request.operation] or string.format("operation %d", request.operation),
    tvb(at + 7, 2):uint(), tvb(at + 13, 5):bytes():tohex(true),
    request.length and string.format(", %d octets", request.length) or "",
    tvb(at + 3, 4):bytes():tohex(true)))
  return item
end

local function find_response_violation(response)
  local status = response.octets:byte(4)
  if response.octets:byte(3) % 16 ~= 0 then return "reserved bits are set" end
  if (response.data_bytes ~= 0) ~= (response.kind == DATA) then
    return response.kind == DATA and "there is no data" or "there is data"
  end
  if not MEM_STATUSES[status] then return "targets do not give this status" end
  if response.kind ~= ACKNOWLEDGEMENT and status ~= 0 then return "a refusal is an acknowledgement" end
  if response.count == 0 then return "count is 0" end
end

local function read_response(response)
  if response.control_bytes < RESPONSE_CONTROL_BYTES[DATA] then return false end
  response.kind = math.floor(response.octets:byte(3) / 16)
  if RESPONSE_CONTROL_BYTES[response.kind] ~= response.control_bytes then return false end
  response.number = number(response.octets, 4, 4)
  response.count = response.kind == ACKNOWLEDGEMENT and number(response.octets, 8, 2) or 1
  response.broken = find_response_violation(response)
  return true
end

local function show_response(response)
  local tvb, at = response.tvb, response.at
  local item = response.tree:add(f.mem, services.range(response))
  local status = tvb(at + 3, 1):uint()
  item:add(f.mem_response, tvb(at + 2, 1))
  local status_item = item:add(f.mem_status, tvb(at + 3, 1))
  item:add(f.mem_number, tvb(at + 4, 4))
  local name = MEM_STATUSES[status] or string.format("status %d", status)
  local text = string.format("%s, %s", MEM_RESPONSES[response.kind], name)
  if response.kind == ACKNOWLEDGEMENT then
    item:add(f.mem_count, tvb(at + 8, 2))
    text = string.format("%s, %d request%s", text, response.count, response.count == 1 and "" or "s")
  elseif response.kind == VALUE then
    item:add(f.mem_old_value, tvb(at + 8, 8))
  else
    add_generated(item, f.mem_length, tvb(at + 1, 1), response.data_bytes)
    text = string.format("%s, %d octets", text, response.data_bytes)
  end
  if status ~= 0 and not response.broken then
    status_item:add_proto_expert_info(e.mem_refused, "The target refused requests: " .. name)
  end
  set_text(response, item, string.format("%s, number 0x%s", text, tvb(at + 4, 4):bytes():tohex(true)))
  return item
end

-- The request of an XPU with this number: the first one counts, others are retransmissions.
local function follow_request(request, pdu, link, pinfo)
  local space = spaces[pdu.partition]
  if not space then
    space = { requests = {}, count = 0 }
    spaces[pdu.partition] = space
  end
  local same = space.requests[request.number]
  if not same then
    same = {}
    space.requests[request.number], space.count = same, space.count + 1
  end
  for _, known in ipairs(same) do
    if known.xpuid == pdu.xpuid then return { request = known } end
  end
  local fresh = { xpuid = pdu.xpuid, from = link.from, far = link.far, frame = pinfo.number,
    time = pinfo.rel_ts }
  same[#same + 1] = fresh
  return { request = fresh }
end

-- The request that a response answers, of those with its number: an XPU does not answer itself, and
-- where several have asked, the addresses tell.
local function answered_request(same, pdu, link)
  local found_one, others = nil, 0
  for _, request in ipairs(same) do
    if request.xpuid ~= pdu.xpuid then
      if link.from and request.from == link.far and request.far == link.from then return request end
      found_one, others = request, others + 1
    end
  end
  return others == 1 and found_one or nil
end

-- Calls `visit` for the requests with the numbers of a response; in no order where most of a wide range
-- has not been seen.
local function visit_requests(space, response, visit)
  if response.count <= space.count then
    for i = 0, response.count - 1 do
      local same = space.requests[(response.number + i) % NUMBERS]
      if same then visit(same) end
    end
    return
  end
  for request_number, same in pairs(space.requests) do
    if (request_number - response.number) % NUMBERS < response.count then visit(same) end
  end
end

-- The frames of the requests that a response answers; the time since the first of those that nothing
-- has answered before.
local function follow_response(response, pdu, link, pinfo)
  local space = spaces[pdu.partition]
  if not space or response.broken then return nil end
  local note, seen = { frames = {} }, {}
  visit_requests(space, response, function(same)
    local request = answered_request(same, pdu, link)
    if not request then return end
    if not request.answer then
      request.answer = pinfo.number
      note.since = math.min(note.since or request.time, request.time)
    end
    if not seen[request.frame] then note.frames[#note.frames + 1] = request.frame end
    seen[request.frame] = true
  end)
  table.sort(note.frames)
  if note.since then note.time = pinfo.rel_ts - note.since end
  return note
end

local function show_response_note(note, command)
  for _, frame in ipairs(note.frames) do add_generated(command.item, f.mem_request_in, frame) end
  if note.time then services.add_time(command.item, f.mem_time, note.time) end
end

local function show_request_note(note, command)
  if note.request.answer then add_generated(command.item, f.mem_response_in, note.request.answer) end
end

services.readers[REQUEST_CLASS] = { read = read_request, show = show_request, expert = e.mem,
  title = "Malformed memory operation" }
services.readers[RESPONSE_CLASS] = { read = read_response, show = show_response, expert = e.mem,
  title = "Malformed response" }
services.followers[REQUEST_CLASS] = { follow = follow_request, show = show_request_note }
services.followers[RESPONSE_CLASS] = { follow = follow_response, show = show_response_note }
function services.forget_memory() spaces = {} end

end

-- ---- Message sockets (docs/sockets.md) ----------------------------------------------------------

do

local CLASS, CONTROL_BYTES = 6, 18
local CONNECT, ANNOUNCE, ACCEPT, CREDIT, REFUSE, CLOSED, DATA, END = 1, 2, 3, 4, 5, 6, 8, 9
local FIRST_AXI_KIND = 10
local FIRST, LAST, FLAGS = 1, 2, 8           -- FLAGS: below which those of DATA are
local MIN_RING_BYTES, MAX_RING_BYTES = 4096, 2 ^ 30
local ABORTED = 23
local NUMBERS = 2 ^ 32
local OTHER = { sender = "receiver", receiver = "sender" }
local number = services.number
local stream_count  -- numbers of streams are from 0
local by_tag        -- by partition, end, tag and id: streams, the newest last
local by_ends       -- by partition, addresses from sender to receiver, and id: streams

local function find_octet_3_violation(command)
  local octet = command.octets:byte(4)
  if command.kind == CONNECT or command.kind == ANNOUNCE then
    return (octet >= 64 or math.floor(octet / 4) % 4 ~= 0) and "reserved traits are set" or nil
  end
  if command.kind == REFUSE then
    return (octet == 0 or not SOCKET_STATUSES[octet]) and "no peer gives this status" or nil
  end
  if command.kind == END then
    return octet ~= 0 and octet ~= ABORTED and "the status is neither OK nor ABORTED" or nil
  end
  return octet ~= 0 and "octet 3 is not 0" or nil
end

local function find_violation(command)
  local flags = command.octets:byte(3) % 16
  if not SOCKET_KINDS[command.kind] then return "there is no such kind" end
  local broken = find_octet_3_violation(command)
  if broken then return broken end
  if command.kind ~= DATA then
    if flags ~= 0 then return "flags are set" end
    if command.data_bytes ~= 0 then return "there is data" end
    local limit = command.kind == ACCEPT and number(command.octets, 8, 4)
    if limit and (limit < MIN_RING_BYTES or limit > MAX_RING_BYTES) then return "no ring has this size" end
    return nil
  end
  if flags >= FLAGS then return "a reserved flag is set" end
  if command.data_bytes == 0 and flags % 4 ~= FIRST + LAST then return "there is no data" end
end

local function read(command)
  local third = command.octets:byte(3)
  if command.control_bytes ~= CONTROL_BYTES or third >= 16 * FIRST_AXI_KIND then return false end
  command.kind, command.flags = math.floor(third / 16), third % 16
  command.tag, command.id = number(command.octets, 4, 4), number(command.octets, 16, 2)
  command.third, command.fourth = number(command.octets, 8, 4), number(command.octets, 12, 4)
  command.broken = find_violation(command)
  if command.kind == CONNECT or command.kind == DATA or command.kind == END then
    command.epoch = command.third
  end
  return true
end

-- Octets 8 to 15, by the kind.
local WORDS = { [CONNECT] = { f.socket_epoch, f.socket_own_tag },
  [ANNOUNCE] = { f.socket_epoch, f.socket_own_tag }, [ACCEPT] = { f.socket_limit, f.socket_own_tag },
  [CREDIT] = { f.socket_limit, f.socket_received }, [REFUSE] = { f.socket_epoch, f.socket_released },
  [CLOSED] = { nil, f.socket_own_tag }, [DATA] = { f.socket_epoch, f.socket_number }, [END] = { f.socket_epoch, f.socket_number } }

local function show_octet_3(command, item)
  local range = command.tvb(command.at + 3, 1)
  if command.kind == CONNECT or command.kind == ANNOUNCE then
    item:add(f.socket_datagram, range)
    item:add(f.socket_private, range)
    item:add(f.socket_vc, range)
  elseif command.kind == REFUSE or command.kind == END then
    local status = range:uint()
    local shown = item:add(f.socket_status, range)
    if command.kind == REFUSE and not command.broken then
      shown:add_proto_expert_info(e.socket_refused,
        "A command of sockets was refused: " .. SOCKET_STATUSES[status])
    end
  end
end

local function show(command)
  local tvb, at = command.tvb, command.at
  local item = command.tree:add(f.socket, services.range(command))
  item:add(f.socket_kind, tvb(at + 2, 1))
  if command.kind == DATA then
    for _, field in ipairs({ f.socket_first, f.socket_last, f.socket_wants_credit }) do
      item:add(field, tvb(at + 2, 1))
    end
  end
  show_octet_3(command, item)
  item:add(f.socket_tag, tvb(at + 4, 4))
  local words = WORDS[command.kind] or {}
  if words[1] then item:add(words[1], tvb(at + 8, 4)) end
  if words[2] then item:add(words[2], tvb(at + 12, 4)) end
  item:add(f.socket_id, tvb(at + 16, 2))
  local text = SOCKET_KINDS[command.kind] or string.format("kind %d", command.kind)
  if command.kind == DATA then
    add_generated(item, f.socket_length, tvb(at + 1, 1), command.data_bytes)
    text = string.format("%s %d, %d octets", text, command.fourth, command.data_bytes)
  end
  text = string.format("Socket %d %s", command.id, text)
  item:set_text(text)
  command.tree:append_text(": " .. text)
  return item
end

-- ---- Streams: the channels of {sender, receiver, id}, by the tags of both ends

local function tag_key(pdu, end_, tag, id)
  return string.format("%d %s %d %d", pdu.partition, end_, tag, id)
end

local function ends_key(pdu, from, far, id)
  return string.format("%d %s>%s %d", pdu.partition, from, far, id)
end

local function insert(lists, key, stream)
  lists[key] = lists[key] or {}
  table.insert(lists[key], stream)
end

-- The newest stream with the tag at one end, of which the XPU is, or may be, the end `of`.
local function find_by_tag(pdu, end_, tag, id, of)
  local list, candidate = by_tag[tag_key(pdu, end_, tag, id)] or {}, nil
  for i = #list, 1, -1 do
    local stream = list[i]
    if stream[of] == pdu.xpuid then return stream end
    if not stream[of] and stream[OTHER[of]] ~= pdu.xpuid then candidate = candidate or stream end
  end
  return candidate
end

-- The stream between two addresses whose tag at one end has not been seen, if it is the only one.
local function find_half(pdu, from, far, command, missing)
  local half
  for _, stream in ipairs(from and by_ends[ends_key(pdu, from, far, command.id)] or {}) do
    local is_other = command.epoch and stream.epoch and command.epoch ~= stream.epoch
    if not stream[missing .. "_tag"] and not is_other then
      if half then return nil end
      half = stream
    end
  end
  return half
end

local function set_tag(stream, pdu, end_, tag, id)
  if stream[end_ .. "_tag"] then return end
  stream[end_ .. "_tag"] = tag
  insert(by_tag, tag_key(pdu, end_, tag, id), stream)
end

-- The stream of a command, which an XPU sent as the end `own`. `tags`: by end, those that the command
-- has. One that names an end anew belongs to another stream.
local function stream_of_tags(command, pdu, link, own, tags)
  local stream
  for _, end_ in ipairs({ "sender", "receiver" }) do
    if tags[end_] and not stream then stream = find_by_tag(pdu, end_, tags[end_], command.id, own) end
  end
  for end_, tag in pairs(tags) do
    if stream and stream[end_ .. "_tag"] and stream[end_ .. "_tag"] ~= tag then stream = nil end
  end
  local from, far = link.from, link.far
  if own == "receiver" then from, far = far, from end
  if not stream and not tags[own] then stream = find_half(pdu, from, far, command, OTHER[own]) end
  if not stream then
    stream = { index = stream_count, parts = {}, messages = 0 }
    stream_count = stream_count + 1
    if from then insert(by_ends, ends_key(pdu, from, far, command.id), stream) end
  end
  stream[own], stream.epoch = stream[own] or pdu.xpuid, stream.epoch or command.epoch
  for end_, tag in pairs(tags) do set_tag(stream, pdu, end_, tag, command.id) end
  return stream
end

-- A REFUSE has the tag of the refused channel at either end, and makes no stream.
local function stream_of_refusal(command, pdu)
  for _, own in ipairs({ "receiver", "sender" }) do
    for _, end_ in ipairs({ "receiver", "sender" }) do
      local stream = find_by_tag(pdu, end_, command.tag, command.id, own)
      if stream then return stream end
    end
  end
end

local function stream_of(command, pdu, link)
  local tag, own_tag = command.tag, command.fourth
  if command.kind == CONNECT then
    local tags = { sender = own_tag, receiver = tag ~= 0 and tag or nil }
    return stream_of_tags(command, pdu, link, "sender", tags)
  elseif command.kind == ACCEPT or command.kind == CLOSED then
    return stream_of_tags(command, pdu, link, "receiver", { sender = tag, receiver = own_tag })
  elseif command.kind == CREDIT then
    return stream_of_tags(command, pdu, link, "receiver", { sender = tag })
  elseif command.kind == DATA or command.kind == END then
    return stream_of_tags(command, pdu, link, "sender", { receiver = tag })
  elseif command.kind == REFUSE then
    return stream_of_refusal(command, pdu)
  end
end

-- Places the next DATA of a stream: its offset, and its part of a datagram.
local function place(stream, part)
  part.offset, stream.offset = stream.offset, stream.offset + part.bytes
  if part.is_first then
    stream.message = { number = stream.messages, first_in = part.frame, bytes = 0 }
    stream.messages = stream.messages + 1
  end
  local message = stream.message
  if message then
    part.message, part.message_offset = message, message.bytes
    message.bytes = message.bytes + part.bytes
    if part.is_last then message.last_in, stream.message = part.frame, nil end
  end
end

-- Returns the part that a DATA is. Numbers come in order but for retransmissions, and offsets count
-- from the first DATA in the capture.
local function on_data(stream, command, pinfo)
  local part = stream.parts[command.fourth]
  if part then return part end
  part = { bytes = command.data_bytes, frame = pinfo.number, is_first = command.flags % 2 == FIRST,
    is_last = command.flags % 4 >= LAST }
  stream.parts[command.fourth] = part
  if not stream.next then stream.next, stream.offset = command.fourth, 0 end
  while stream.parts[stream.next] and not stream.parts[stream.next].offset do
    place(stream, stream.parts[stream.next])
    stream.next = (stream.next + 1) % NUMBERS
  end
  return part
end

-- The exchange that a command begins: the newest CONNECT, and the first END.
local function begin_exchange(stream, kind, pinfo)
  if kind == END and stream[kind] then return stream[kind] end
  stream[kind] = { frame = pinfo.number, time = pinfo.rel_ts }
  return stream[kind]
end

local function answer_exchange(stream, kind, pinfo)
  local exchange = stream[kind]
  if not exchange or exchange.answer then return nil end
  exchange.answer, exchange.duration = pinfo.number, pinfo.rel_ts - exchange.time
  return exchange
end

local function follow(command, pdu, link, pinfo)
  if command.broken then return nil end
  local stream = stream_of(command, pdu, link)
  if not stream then return nil end
  local note, kind = { stream = stream }, command.kind
  if kind == DATA then note.part = on_data(stream, command, pinfo) end
  if kind == CONNECT or kind == END then note.began = begin_exchange(stream, kind, pinfo) end
  if kind == CLOSED then note.answered = answer_exchange(stream, END, pinfo) end
  if kind == CLOSED or kind == ACCEPT or kind == REFUSE then
    note.answered = note.answered or answer_exchange(stream, CONNECT, pinfo)
  end
  return note
end

local function show_part(part, item)
  if part.offset then
    local offset = UInt64.new(part.offset % NUMBERS, math.floor(part.offset / NUMBERS))
    add_generated(item, f.socket_offset, offset)
  end
  local message = part.message
  if not message then return end
  add_generated(item, f.socket_message, message.number)
  add_generated(item, f.socket_message_offset, UInt64.new(part.message_offset))
  add_generated(item, f.socket_first_in, message.first_in)
  if message.last_in then
    add_generated(item, f.socket_message_length, UInt64.new(message.bytes))
    add_generated(item, f.socket_last_in, message.last_in)
  end
end

local function show_note(note, command)
  local item = command.item
  add_generated(item, f.socket_stream, note.stream.index)
  if note.part then show_part(note.part, item) end
  if note.began and note.began.answer then add_generated(item, f.socket_answer_in, note.began.answer) end
  if note.answered then
    add_generated(item, f.socket_request_in, note.answered.frame)
    services.add_time(item, f.socket_time, note.answered.duration)
  end
end

services.readers[CLASS] = { read = read, show = show, expert = e.socket,
  title = "Malformed command of sockets" }
services.followers[CLASS] = { follow = follow, show = show_note }
function services.forget_sockets() stream_count, by_tag, by_ends = 0, {}, {} end

end

function services.forget()
  service_notes = {}
  services.forget_memory()
  services.forget_sockets()
end

-- ---- Commands -----------------------------------------------------------------------------------

local function show_command(tvb, at, to, number, control_bytes, data_bytes, is_whole, tree)
  local first = tvb(at, 1)
  local item = tree:add(f.command, tvb(at, to - at))
  item:set_text(string.format("Command %d: class %d, %d bytes of control, %d of data", number,
    first:bitfield(0, 3), control_bytes, data_bytes))
  item:add(f.command_type, first)
  item:add(f.command_class, first)
  item:add(f.command_d, first)
  item:add(f.command_l, first)
  item:add(f.command_length, tvb(at + 1, 1))
  if not is_whole then return item:append_text(" [not whole]") end
  add_generated(item, f.command_control_bytes, first, control_bytes)
  item:add(f.command_control, tvb(at, control_bytes))
  add_generated(item, f.command_data_bytes, tvb(at + 1, 1), data_bytes)
  if data_bytes > 0 then item:add(f.command_data, tvb(at + control_bytes, data_bytes)) end
  if data_bytes % 2 == 1 then item:add(f.command_padding, tvb(to - 1, 1)) end
  return item
end

-- Shows the commands between `from` and `to`, where the R-CRC begins. Returns how many there are,
-- their bytes, and the name of the rule that is broken. `captured` is where the capture ends.
local function dissect_commands(tvb, from, to, captured, tree, pdu, pinfo)
  local limit = math.min(to, captured)
  local bytes = limit > from and tvb:raw(from, limit - from) or ""
  local shown = is_wanted(tree, COMMAND_FIELDS)
  local at, count = from, 0
  while limit - at >= 2 do
    local first, second = bytes:byte(at - from + 1, at - from + 2)
    local units = first % 16
    if units == 0 then break end
    local control_bytes = units * 2
    local data_bytes = first % 32 >= 16 and second + 1 or 0
    local next_at = at + control_bytes + data_bytes + data_bytes % 2
    local cut, broken = next_at > limit, nil
    if units > 9 then
      broken = "length"
    elseif next_at > to then
      broken = "overrun"
    elseif not cut and data_bytes % 2 == 1 and bytes:byte(next_at - from) ~= 0 then
      broken = "padding"
    end
    local item = shown and show_command(tvb, at, math.min(next_at, limit), count + 1, control_bytes,
      data_bytes, not cut and units <= 9, tree) or tree
    if broken then item:add_proto_expert_info(e[broken]) end
    if not broken and suede.prefs.services and at + control_bytes <= limit then
      services.read({ tvb = tvb, at = at, control_bytes = control_bytes, data_bytes = data_bytes,
        is_whole = not cut, shown = shown, tree = item,
        octets = bytes:sub(at - from + 1, math.min(next_at, limit) - from) }, pdu)
    end
    if broken or cut then return count, at - from, broken end
    if first >= AXI_FIRST and first < AXI_END and suede.prefs.services then
      dissect_axi(bytes:sub(at - from + 1, next_at - from), tvb, at, control_bytes, data_bytes, shown, item,
        pdu, pinfo)
    end
    count, at = count + 1, next_at
  end
  -- A single byte in front of the end of the capture may begin a command.
  local rest = bytes:sub(at - from + 1)
  if rest ~= "" and (limit == to or rest:byte() % 16 == 0) then
    local padding = tree:add(f.padding, tvb(at, limit - at))
    if rest:find("[^\0]") then
      padding:add_proto_expert_info(e.padding)
      return count, at - from, "padding"
    end
  end
  return count, at - from
end

-- ---- Control PDUs -------------------------------------------------------------------------------

local NOBODY = string.rep("0", 16)  -- the identity of an unknown peer

-- 8 bytes as hex; a flag as a boolean.
local function value_of(row, range)
  if row.bytes == 8 then return range:bytes():tohex() end
  local number = range:uint()
  if row.flag then return math.floor(number / row.flag) % 2 == 1 end
  if not row.mask then return number end
  return math.floor(number / 2 ^ row.shift) % (math.floor(row.mask / 2 ^ row.shift) + 1)
end

-- Shows the fields of a body, and bytes between them as reserved. Sets their values in `control`,
-- those of a field for each VC or session as a list. Returns their items.
local function dissect_body(body, item, control)
  local items, at, features = {}, 16, nil
  control.identity = body(0, 8):bytes():tohex()
  control.peer_identity = body(8, 8):bytes():tohex()
  item:add(f.control_identity, body(0, 8))
  item:add(f.control_peer_identity, body(8, 8))
  for _, row in ipairs(CONTROL[control.type]) do
    local name, values = row[1], {}
    local available = row.at < 0 and 0 or math.floor((body:len() - row.at) / row.bytes)
    for i = 1, math.min(row.count or 1, available) do
      local from = row.at + (i - 1) * row.bytes
      if from > at then item:add(f.control_reserved, body(at, from - at)) end
      at = from + row.bytes
      local range = body(from, row.bytes)
      if row.flag then features = features or item:add(f.control_features, range) end
      items[name] = (row.flag and features or item):add(row.field, range)
      if row.count == 4 then items[name]:append_text(string.format(" (VC %d)", i - 1)) end
      values[i] = value_of(row, range)
    end
    if row.at >= 0 then control[name] = row.count and values or values[1] end
  end
  return items
end

-- By type: the text of a body for the Info column; or nil, and the rule that is broken.
local text_of = {}

text_of[HELLO] = function(hello, items)
  if hello.nonce == NOBODY then return nil, "nonce is 0" end
  if hello.sessions == 0 then return nil, "sessions is 0" end
  if not SCOPES[hello.psn_scope] then return nil, "psn_scope is neither 0 nor 1" end
  if hello.psn_scope ~= suede.prefs.psn_scope then items.psn_scope:add_proto_expert_info(e.scope) end
  if hello.window_pdus > WINDOW then items.window_pdus:add_proto_expert_info(e.window) end
  return string.format("identity=%s peer_identity=%s%s%s", hello.identity:lower(),
    hello.peer_identity == NOBODY and "unknown" or hello.peer_identity:lower(),
    hello.echo ~= NOBODY and " answer" or "", hello.reply_wanted and " reply wanted" or "")
end

text_of[READY] = function(ready)
  if ready.vc > 3 then return nil, "there is no such VC" end
  return string.format("VC=%d expected=%d", ready.vc, ready.expected)
    .. (ready.backoff_us and string.format(" backoff=%uus", ready.backoff_us) or "")
end

text_of[NOT_READY] = text_of[READY]

text_of[CREDIT] = function(credit)
  if credit.vc > 3 then return nil, "there is no such VC" end
  return string.format("%s%s VC=%d round=%d limit=%u %s sent=%u%s%s",
    credit.grant and "grant" or "ask", credit.give_back and " give back" or "", credit.vc,
    credit.round, credit.limit, credit.grant and string.format("accepted=%u", credit.accepted)
      or string.format("wanted=%u", credit.wanted), credit.sent,
    credit.reply_wanted and " reply wanted" or "", credit.on_demand and " on demand" or "")
end

text_of[CONGESTION] = function(congestion)
  local texts = {}
  if congestion.request then
    texts[#texts + 1] = string.format("request target=%u sent=%u limit=%u", congestion.target,
      congestion.sent, congestion.limit)
  end
  if congestion.grant then
    texts[#texts + 1] = string.format("grant granted=%u", congestion.granted)
  end
  if congestion.has_echo then
    texts[#texts + 1] = string.format("echo received=%u marked=%u trimmed=%u",
      congestion.received, congestion.marked, congestion.trimmed)
  end
  return #texts ~= 0 and table.concat(texts, " ") or "nothing"
end

text_of[SESSION] = function(session)
  if session.slot > 63 then return nil, "there is no such slot" end
  if session.fence and session.anew then return nil, "a fence opens nothing" end
  return string.format("%s%sslot=%d number=%d in_use=%d turn=%u%s",
    session.is_answer and "answer " or "", session.fence and "fence " or "", session.slot,
    session.number, session.in_use, session.turn,
    (session.anew or session.fence and session.is_answer)
      and " psns=" .. table.concat(session.session_psn, ",") or "")
end

text_of[PATH] = function(path)
  if path.class > 4 then return nil, "there is no such class" end
  if not path.report then
    return string.format("probe=%u class=%d%s", path.probe, path.class,
      path.long_reply and " long reply" or "")
  end
  return string.format("report of probe=%u class=%d order=%u bytes=%d%s%s%s", path.probe,
    path.class, path.order, path.frame_bytes,
    path.has_ds and string.format(" dscp=%d ecn=%d", math.floor(path.ds / 4), path.ds % 4) or "",
    path.has_hops and string.format(" hops=%d", path.hops) or "",
    path.tagged and string.format(" pcp=%d vid=%d", math.floor(path.tci / 8192),
      path.tci % 4096) or "")
end

-- The PSNs of every second word from word `at` on, as a text.
local function psns_of(words, at, first)
  local psns = {}
  for j = at, #words, 2 do
    for i = 0, 63 do
      local digit = tonumber(words[j]:sub(16 - math.floor(i / 4), 16 - math.floor(i / 4)), 16)
      if math.floor(digit / 2 ^ (i % 4)) % 2 == 1 then
        psns[#psns + 1] = (first + 64 * math.floor((j - at) / 2) + i) % 65536
      end
    end
  end
  return #psns ~= 0 and table.concat(psns, ",") or "none"
end

text_of[REPAIR] = function(repair)
  if repair.vc > 3 then return nil, "there is no such VC" end
  if repair.slot > 63 then return nil, "there is no such slot" end
  if repair.plane > 3 then return nil, "there is no such plane" end
  local marks = repair.marks or {}
  return string.format("%sVC=%d expected=%d received=%s wanted=%s",
    repair.fenced_plane and string.format("fence of plane %d, ", repair.plane)
      or repair.fenced_session and string.format("fence of slot %d, ", repair.slot) or "",
    repair.vc, repair.expected, psns_of(marks, 1, repair.expected), psns_of(marks, 2, repair.expected))
end

text_of[PLANE] = function(plane, items)
  local state = PLANE_STATES[plane.state]
  if plane.plane > 3 or plane.heard_plane > 4 then return nil, "there is no such plane" end
  if not state then return nil, "there is no such state" end
  if plane.held_up then return string.format("plane=%d is held up", plane.plane) end
  if state == "down" then items.state:add_proto_expert_info(e.plane_down) end
  return string.format("%s plane=%d generations=%d,%d sequence=%u%s first=%s%s", state,
    plane.plane, plane.tx_generation, plane.rx_generation, plane.sequence,
    plane.has_heard and string.format(" heard=%u", plane.heard) or "",
    table.concat(plane.first, ","),
    (plane.failed ~= 0 and string.format(" failed=0x%x", plane.failed) or "") ..
    (plane.reply_wanted and " reply wanted" or ""))
end

text_of[FENCE] = function(fence, _, item)
  local own = fence.own or 0  -- FENCED has none
  if fence.plane > 3 then return nil, "there is no such plane" end
  if not DEAD_PLANES[own] then return nil, "own is neither 0 nor 1" end
  if fence.oldest then item:add_proto_expert_info(e.fence) end
  return string.format("plane=%d%s generation=%d %s=%s", fence.plane,
    own == 1 and " (this one)" or "", fence.generation, fence.oldest and "oldest" or "expected",
    table.concat(fence.oldest or fence.expected, ","))
end

text_of[FENCED] = text_of[FENCE]

-- Shows head and body. Returns their content, nil where nothing may be concluded from them, a text
-- for the Info column, and the name of the rule that is broken.
local function dissect_control(tvb, from, to, captured, tree)
  if captured < to then return nil, "control PDU" end
  local bytes = to - from
  if bytes < 4 then
    tree:add_proto_expert_info(e.control, "Malformed: control PDU of fewer than 4 bytes")
    return nil, "control PDU", "control"
  end
  local control = { type = tvb(from, 1):uint() }
  local body_bytes = tvb(from + 2, 2):uint()
  local name = CONTROL_TYPES[control.type]
  local item = tree:add(f.control, tvb(from, math.min(bytes, 4 + body_bytes)))
  item:set_text("Control PDU: " .. (name or string.format("unknown type %d", control.type)))
  item:add(f.control_type, tvb(from, 1))
  local flags = item:add(f.control_flags, tvb(from + 1, 1))
  local known = CONTROL[control.type] or {}
  for _, row in ipairs(known) do
    if row.at < 0 then
      flags:add(row.field, tvb(from + 1, 1))
      control[row[1]] = value_of(row, tvb(from + 1, 1))
    end
  end
  item:add(f.control_length, tvb(from + 2, 2))

  local known_bytes = known.bytes
  local broken, text
  if body_bytes > bytes - 4 then
    broken = "its body runs past the R-CRC"
  elseif not name then
    item:add_proto_expert_info(e.unknown_control)
    known_bytes = 0
  elseif body_bytes < known_bytes then
    broken = "its body is shorter than its type's"
  else
    -- Fields that may be missing, at the end.
    for _, row in ipairs(known) do
      local count = math.min(row.count or 1, math.floor((body_bytes - row.at) / row.bytes))
      if row.at >= known.bytes then known_bytes = known_bytes + count * row.bytes end
    end
    local items = dissect_body(tvb(from + 4, known_bytes):tvb(), item, control)
    if control.identity == NOBODY then
      broken = "identity is 0"
    else
      text, broken = text_of[control.type](control, items, item)
    end
  end
  if broken then
    item:add_proto_expert_info(e.control, "Malformed: control PDU, " .. broken)
    return nil, name or "control PDU", "control"
  end
  if body_bytes > known_bytes then
    item:add(f.control_rest, tvb(from + 4 + known_bytes, body_bytes - known_bytes))
  end
  if bytes > 4 + body_bytes then
    tree:add(f.padding, tvb(from + 4 + body_bytes, bytes - 4 - body_bytes))
  end
  if not name then return nil, string.format("control type %d", control.type) end
  return control, name .. " " .. text
end

-- ---- Analysis of connections --------------------------------------------------------------------
--
-- Frames are dissected in order once, and then again in any order. Results that depend on earlier
-- frames are found the first time and kept under the frame's number.

local ip_addresses -- in the order of their coming
local found        -- by frame: the analysis of its PDU
local paths        -- by path: the streams of PSNs from one address to another
local connections  -- by the two paths of a connection: its number
local connection_count
local associations -- by the path without VC: the identities of its sender and receiver
local ended        -- associations that others have followed
local nonces       -- by the path without VC: of the last HELLO
local generations  -- by the path without VC: the one being sent; false: the next PLANE says which
local sessions     -- by the two addresses: those that the sender keeps apart

local function forget()
  ip_addresses, found, paths, connections, connection_count = {}, {}, {}, {}, 0
  associations, ended, nonces, generations, sessions = {}, {}, {}, {}, {}
  axi_exchanges = {}
  services.forget()
end
suede.init = forget
forget()

-- The distance by which PSN a is ahead of b, negative where it is behind.
local function psn_diff(a, b)
  return (a - b + PSNS / 2) % PSNS - PSNS / 2
end

-- Generations are compared modulo 2^16.
local function is_newer(a, b, modulus)
  return a ~= b and (a - b) % modulus < modulus / 2
end

-- A path is one direction of a connection; `streams` has one entry for each xpuid, as
-- the RH is free to contradict the address. ACKs are about the one that was last in use.
local function path_of(from, to, where)
  local key = from .. ">" .. to .. where
  local path = paths[key]
  if not path then
    path = { label = key, streams = {} }
    paths[key] = path
  end
  return path
end

local function stream_of(path, xpuid)
  local stream = path.streams[xpuid]
  if not stream then
    local other = path.last and string.format(" xpu %d", xpuid) or ""
    -- next: the PSN expected next. sent, latest: the frames that carried a PSN first and last.
    stream = { sent = {}, latest = {}, label = path.label .. other }
    path.streams[xpuid] = stream
  end
  path.last = stream
  return stream
end

local function start_over(stream, next_psn)
  stream.next, stream.sent, stream.latest = next_psn, {}, {}
  stream.acked, stream.nacked, stream.resend = nil, nil, nil
end

local function on_psn_behind(stream, psn, frame, result)
  local resend = stream.resend
  -- The sender goes back in order, so that the PDU asked for explains those behind it too.
  local asked_for = resend ~= nil and resend.psn == psn
  result.original = stream.sent[psn]
  if result.original or asked_for then
    result.retransmission = true
    result.kind = "retransmission"
    if asked_for then
      result.cause = resend.frame
      resend.psn = (psn + 1) % PSNS
    end
  else
    result.out_of_order = true
    result.kind = "out_of_order"
  end
  stream.sent[psn] = stream.sent[psn] or frame
  stream.latest[psn] = frame
end

local function on_sequenced(stream, psn, frame, result)
  result.sequenced = true
  result.psn = psn
  result.kind = "data"
  local ahead = stream.next and psn_diff(psn, stream.next) or 0
  if math.abs(ahead) > WINDOW then
    result.outside = true
    start_over(stream, psn)
  elseif ahead < 0 then
    return on_psn_behind(stream, psn, frame, result)
  elseif ahead > 0 then
    result.gap = ahead
    result.kind = "gap"
    -- Entries of the last round of PSNs are no part of this one.
    for missing = stream.next, stream.next + ahead - 1 do
      stream.sent[missing % PSNS], stream.latest[missing % PSNS] = nil, nil
    end
  end
  if stream.resend and stream.resend.psn == psn then stream.resend = nil end  -- all was sent again
  stream.sent[psn], stream.latest[psn] = frame, frame
  stream.next = (psn + 1) % PSNS
end

local function on_unsequenced(stream, psn, result)
  if not stream.next then
    stream.next = psn
    return
  end
  -- Other traffic classes may overtake one another, so `next` is left for the PDUs to come.
  local ahead = psn_diff(psn, stream.next)
  if ahead > 0 and ahead <= WINDOW then
    result.gap = ahead
    result.tail_gap = true
  end
end

local function mark_acked(stream, psn, frame)
  for _, carrier in pairs({ stream.sent[psn], stream.latest[psn] }) do
    found[carrier].acked_frame = found[carrier].acked_frame or frame
  end
end

-- A PDU in `frame` says that all PSNs up to `last` have arrived. `repeats` tells whether a repetition
-- means anything: PDUs with commands carry the number in any case.
local function on_acked(stream, last, frame, time, repeats, result)
  result.acks_to = last
  if stream.next then
    local ahead = psn_diff(last, (stream.next - 1) % PSNS)
    result.acks_unseen = ahead > 0 and ahead <= WINDOW
  end
  local progress = stream.acked and psn_diff(last, stream.acked)
  if progress == 0 then
    if repeats then
      stream.repeats = stream.repeats + 1
      result.duplicate_ack = stream.repeats
      result.duplicate_of = stream.ack_frame
    end
    return
  end
  if progress and progress < 0 and progress >= -WINDOW then return end  -- an old one, overtaken
  if progress and math.abs(progress) <= WINDOW then
    for psn = stream.acked + 1, stream.acked + progress do mark_acked(stream, psn % PSNS, frame) end
  else
    local psn = last
    while stream.sent[psn] and not found[stream.sent[psn]].acked_frame do
      mark_acked(stream, psn, frame)
      psn = (psn - 1) % PSNS
    end
  end
  stream.acked, stream.ack_frame, stream.repeats = last, frame, 0
  if result.acks_unseen then return end
  result.acks_frame = stream.latest[last]
  -- If there were several transmissions, it is unknown which of them is answered.
  if result.acks_frame and result.acks_frame == stream.sent[last] then
    result.ack_time = time - found[result.acks_frame].time
  end
end

local function on_nack(stream, expected, result)
  if stream.nacked == expected then
    stream.nacks = stream.nacks + 1
    result.duplicate_nack = stream.nacks
  else
    stream.nacked, stream.nacks = expected, 0
  end
end

-- A PDU says which PSNs of `path` arrived, or which is expected: `kind` tells how.
local function on_answer(path, kind, number, frame, time, result)
  local stream = path.last
  result.answer, result.answer_psn = kind, number
  result.answer_label = stream and stream.label or path.label
  result.nack = kind == "nack"
  result.not_ready = kind == "not_ready"
  if not stream then return end
  if kind == "ack" then
    on_acked(stream, number, frame, time, not result.sequenced, result)
    return
  end
  if kind ~= "ready" then on_acked(stream, (number - 1) % PSNS, frame, time, false, result) end
  if kind == "nack" then on_nack(stream, number, result) end
  stream.resend = { psn = number, frame = frame }
end

local VCS = { " vc 0", " vc 1", " vc 2", " vc 3" }

local function vcs_of_scope()
  return suede.prefs.psn_scope == SCOPE_VC and VCS or { "" }
end

-- How many sessions both ends keep apart; each is a connection, or one for each VC.
local function session_count(link)
  local own, theirs = sessions[link.from .. ">" .. link.far], sessions[link.far .. ">" .. link.from]
  local most, count = math.min(own or 1, theirs or 1, 64), 1
  while 2 * count <= most do count = 2 * count end
  return count
end

-- Where there are several, numbers come and go, and their slots are what they have in common.
local function where_of(link, slot)
  if session_count(link) == 1 or not link.session then return link.where end
  if link.is_udp then return string.format(" session %d", slot) end
  return slot > 0 and string.format("%s session %d", link.where, slot) or link.where
end

-- The sender has sent nothing in this association yet, so that its first PSNs are known before they
-- come: those of its HELLO, or those that its PLANE is going to say.
local function begin_path(from, far, where, hello)
  local key = from .. ">" .. far .. where
  if hello.sends_generations then generations[key] = false else generations[key] = nil end
  for number, vc in ipairs(vcs_of_scope()) do
    local first = not hello.sends_generations and hello.first[number] or nil
    for _, stream in pairs(path_of(from, far, where .. vc).streams) do start_over(stream, first) end
  end
end

-- Notes which association the PDUs sent on a path belong to. Returns whether that is another one than
-- before, nil where it is one that has ended.
local function associate(key, own, peer)
  local pair, before = own .. peer, associations[key]
  if before == pair then return false end
  if ended[pair] then return nil end
  if before then ended[before] = true end
  associations[key] = pair
  return true
end

-- A HELLO that names both ends says the first PSNs of an association. An endpoint believes it if it
-- answers one of its own: so does this, where that was captured.
local function on_hello(hello, from, far, where, xpuid, result)
  local key, far_key = from .. ">" .. far .. where, far .. ">" .. from .. where
  nonces[key] = hello.nonce
  local asked, known = nonces[far_key], associations[key]
  local verified = hello.echo ~= NOBODY and (not asked or asked == hello.echo)
  if hello.peer_identity == NOBODY then return end
  local pair = hello.identity .. hello.peer_identity
  if known == pair or not verified then
    -- One that asks, in the middle: both ends are in it already.
    if not known and hello.echo == NOBODY then
      associate(key, hello.identity, hello.peer_identity)
      associate(far_key, hello.peer_identity, hello.identity)
    end
    return
  end
  if not associate(key, hello.identity, hello.peer_identity) then return end
  for _, vc in ipairs(vcs_of_scope()) do
    local stream = stream_of(path_of(from, far, where .. vc), xpuid)
    result.restart = result.restart or known ~= nil and stream.next ~= nil
  end
  begin_path(from, far, where, hello)
end

-- A PLANE names the first PSN of a generation, which is far from those of the one before.
local function on_plane(plane, link, xpuid, result)
  local from, far = link.from, link.far
  local key = from .. ">" .. far .. where_of(link, 0)
  if plane.peer_identity == NOBODY or plane.held_up then return end
  local before = associations[key]
  local changed = associate(key, plane.identity, plane.peer_identity)
  if changed == nil then return end  -- of an association that has ended
  -- The HELLOs of a new one may have gone over another plane.
  local fresh = generations[key] == false or changed and before ~= nil
  local known = generations[key]
  if not fresh and known and not is_newer(plane.tx_generation, known, PSNS) then return end
  generations[key] = plane.tx_generation
  local count, per_session = session_count(link), #vcs_of_scope()
  for connection = 1, count * per_session do
    local slot, number = math.floor((connection - 1) / per_session), (connection - 1) % per_session + 1
    local where = where_of(link, slot) .. vcs_of_scope()[number]
    local stream = stream_of(path_of(from, far, where), xpuid)
    local first = plane.first[number]
    if slot > 0 then first = plane.more_psn[connection - per_session] end
    -- Where the one before was not captured, its PSNs tell.
    local is_far = first and stream.next and math.abs(psn_diff(first, stream.next)) > WINDOW
    if fresh or known or is_far then
      if (stream.next or first) ~= first then
        result.restart, result.generation = true, plane.tx_generation
      end
      start_over(stream, first)
    end
  end
end

local ANSWERS = { [NOT_READY] = "not_ready", [READY] = "ready" }

-- Keeps the analysis of a PDU that a receiver would accept.
local function analyse(pdu, link, pinfo)
  local frame, time, control = pinfo.number, pinfo.rel_ts, pdu.control
  if control and control.type == HELLO then
    sessions[link.from .. ">" .. link.far] = control.sessions
  end
  -- NOT_READY and READY answer PDUs of a connection.
  local answer = control and ANSWERS[control.type]
  local of_connection = not control or answer
  local slot = link.session and of_connection and link.session % session_count(link) or 0
  local where, vc = where_of(link, slot), ""
  if suede.prefs.psn_scope == SCOPE_VC and of_connection then
    vc = VCS[(control or pdu).vc + 1]
  end
  local path = path_of(link.from, link.far, where .. vc)
  local back = path_of(link.far, link.from, where .. vc)
  local key = link.from < link.far and path.label or back.label
  if not connections[key] then
    connections[key] = connection_count
    connection_count = connection_count + 1
  end
  local result = { time = time, connection = connections[key], direction = path.label }
  found[frame] = result

  if control then
    if control.type == HELLO then
      on_hello(control, link.from, link.far, where, pdu.xpuid, result)
    elseif control.type == PLANE then
      on_plane(control, link, pdu.xpuid, result)
    elseif answer then
      on_answer(back, answer, control.expected, frame, time, result)
    end
    return
  end
  local stream = stream_of(path, pdu.xpuid)
  result.direction = stream.label
  if pdu.commands > 0 then
    on_sequenced(stream, pdu.psn, frame, result)
  else
    on_unsequenced(stream, pdu.psn, result)
  end
  if pdu.op == 0 then on_answer(back, "ack", pdu.rpsn, frame, time, result) end
  if pdu.op == 1 then on_answer(back, "nack", pdu.rpsn, frame, time, result) end
end

-- Shows the analysis, and appends marks for the Info column.
local function show_analysis(result, tree, marks)
  local item = tree:add(f.analysis):set_generated()
  local function show(field, value)
    if value then return add_generated(item, field, value) end
  end
  local function flag(name, mark, text)
    local shown = show(f[name], result[name])
    if not shown then return end
    if text then
      shown:add_proto_expert_info(e[name], text)
    else
      shown:add_proto_expert_info(e[name])
    end
    marks[#marks + 1] = mark
  end

  show(f.connection, result.connection)
  show(f.direction, result.direction)
  show(f.sequenced, result.sequenced)
  flag("retransmission", "retransmission")
  show(f.original, result.original)
  show(f.cause, result.cause)
  flag("out_of_order", "out of order")
  if result.tail_gap then
    show(f.gap, result.gap)
    flag("tail_gap", string.format("tail of %d missing", result.gap))
  elseif result.gap then
    flag("gap", string.format("gap of %d", result.gap),
      string.format("PSN ahead of the expected one: PDUs missing before it: %d", result.gap))
  end
  flag("outside", "outside the window")
  show(f.acks_to, result.acks_to)
  show(f.acks_frame, result.acks_frame)
  if result.ack_time then
    local nanoseconds = math.floor(result.ack_time * 1e9 + 0.5)
    show(f.ack_time, NSTime.new(math.floor(nanoseconds / 1e9), nanoseconds % 1e9))
  end
  if result.duplicate_ack then
    flag("duplicate_ack", string.format("duplicate ACK %d", result.duplicate_ack))
  end
  show(f.duplicate_of, result.duplicate_of)
  flag("acks_unseen", "acknowledges a PDU not captured")
  flag("nack", "NACK", string.format("NACK: PSN %d is expected", result.answer_psn or 0))
  show(f.duplicate_nack, result.duplicate_nack)
  flag("not_ready", "not ready")
  flag("restart", "PSNs start over", result.generation and
    string.format("Generation %d: PSNs start over", result.generation))
  show(f.acked_frame, result.acked_frame)
end

-- ---- Sealed PDUs --------------------------------------------------------------------------------

-- Shim, encrypted part and tag. Returns a text, and what is malformed.
local function dissect_sealed(tvb, link, ver, tree)
  local at, captured = link.at, tvb:captured_len()
  local bytes = link.to - at
  local is_hello = captured > at and tvb(at, 1):uint() >= 0x80
  local shim_bytes = is_hello and HELLO_SHIM_BYTES or SESSION_SHIM_BYTES
  if bytes < shim_bytes + RCRC_BYTES + TAG_BYTES then
    tree:add_proto_expert_info(e.seal)
    return "sealed", "seal"
  end
  if captured < at + shim_bytes then return "sealed" end
  local first, secret_id = tvb(at, 1), tvb(at + 1, 1)
  local number_at = at + shim_bytes - 8
  local stream = tvb(number_at, 1):uint()
  local text_at, tag_at = at + shim_bytes, link.to - TAG_BYTES
  local item = tree:add(f.seal, tvb(at, shim_bytes))
  item:add(f.seal_form, first)
  item:add(f.seal_zero, first)
  if is_hello then
    item:add(f.seal_cipher, first)
  else
    item:add(f.seal_epoch, first)
    item:add(f.seal_echo, first)
  end
  item:add(f.seal_secret_id, secret_id)
  if is_hello then item:add(f.seal_identity, tvb(at + 2, 8)) end
  item:add(f.seal_stream, tvb(number_at, 1))
  item:add(f.seal_packet_number, tvb(number_at, 8))
  item:add_proto_expert_info(e.sealed)
  if captured > text_at then
    tree:add(f.seal_text, tvb(text_at, math.min(captured, tag_at) - text_at))
  end
  if captured >= link.to then tree:add(f.seal_tag, tvb(tag_at, TAG_BYTES)) end
  local octet = first:uint()
  local broken = math.floor(octet / 16) % 8 ~= 0 or stream > LAST_STREAM or
    (is_hello and (ver ~= SEALED_CONTROL_VERSION or stream ~= 0))
  if broken then item:add_proto_expert_info(e.seal) end
  local text
  if is_hello then
    text = string.format("sealed HELLO secret=%d identity=%s", secret_id:uint(),
      tostring(tvb(at + 2, 8):bytes()):lower())
  else
    text = string.format("sealed%s secret=%d epoch=%d stream=%d (%d bytes)",
      ver == SEALED_CONTROL_VERSION and " control" or "", secret_id:uint(),
      math.floor(octet / 4) % 4, stream, tag_at - text_at)
  end
  return text, broken and "seal" or nil
end

-- ---- The PDU ------------------------------------------------------------------------------------

-- Returns the fields of the RH, and its item.
local function dissect_rh(tvb, at, tree)
  local bytes = { tvb:raw(at, RH_BYTES):byte(1, RH_BYTES) }
  local pdu = {
    ver = math.floor(bytes[1] / 64),
    op = math.floor(bytes[1] / 16) % 4,
    xpuid = bytes[1] % 4 * 256 + bytes[2],
    psn = bytes[3] * 256 + bytes[4],
    vc = math.floor(bytes[5] / 64),
    partition = bytes[5] % 4 * 256 + bytes[6],
    rpsn = bytes[7] * 256 + bytes[8],
  }
  local rh = tree:add(f.rh, tvb(at, RH_BYTES))
  if is_wanted(tree, RH_FIELDS) then
    for _, field in ipairs({ f.ver, f.op, f.rsv, f.xpuid }) do rh:add(field, tvb(at, 2)) end
    rh:add(f.psn, tvb(at + 2, 2))
    for _, field in ipairs({ f.vc, f.rsvd, f.partition }) do rh:add(field, tvb(at + 4, 2)) end
    rh:add(f.rpsn, tvb(at + 6, 2))
    rh:append_text(string.format(": %s, XPU %d, PSN %d, VC %d", VERSIONS[pdu.ver], pdu.xpuid,
      pdu.psn, pdu.vc))
    if OPS[pdu.op] ~= "nothing" then
      rh:append_text(string.format(", %s %d", OPS[pdu.op], pdu.rpsn))
    end
  end
  return pdu, rh
end

local function dissect_rcrc(tvb, at, expected, tree)
  if not expected then
    if tvb:captured_len() >= at + RCRC_BYTES then tree:add_le(f.rcrc, tvb(at, RCRC_BYTES)) end
    add_generated(tree, f.rcrc_status, RCRC_UNVERIFIED)
    return RCRC_UNVERIFIED
  end
  local range = tvb(at, RCRC_BYTES)
  local good = range:le_uint() == expected
  local item = tree:add_le(f.rcrc, range)
  add_generated(item, f.rcrc_status, range, good and RCRC_GOOD or RCRC_BAD)
  if not good then
    add_generated(item, f.rcrc_calculated, range, expected)
    item:add_proto_expert_info(e.rcrc)
  end
  return good and RCRC_GOOD or RCRC_BAD
end

-- Returns the place of the R-CRC, its right value (nil: not known), and the place of an FCS behind it.
local function find_rcrc(tvb, link)
  local at = link.to - RCRC_BYTES
  if not suede.prefs.check_rcrc or tvb:captured_len() < link.to then return at end
  local rh = link.rh_tvb:raw(link.rh_at, RH_BYTES)
  local expected = calculate_rcrc(rh, tvb, link.at, at)
  local before = at - RCRC_BYTES
  if link.may_have_fcs and before >= link.at and tvb(at, RCRC_BYTES):le_uint() ~= expected then
    -- Nothing in the frame says whether the FCS is there. An R-CRC that fits in front of it does.
    local expected_before = calculate_rcrc(rh, tvb, link.at, before)
    if tvb(before, RCRC_BYTES):le_uint() == expected_before then
      return before, expected_before, at
    end
  end
  return at, expected
end

-- Says so where RH or R-CRC are missing, in the frame or in the captured part of it.
local function is_whole(tvb, pinfo, tree, link)
  if link.rh_tvb:reported_len() < link.rh_at + RH_BYTES or link.to - link.at < RCRC_BYTES then
    tree:add_proto_expert_info(e.short)
    add_generated(tree, f.malformed, "short")
    pinfo.cols.info = "[malformed: short]"
    return false
  end
  if tvb:captured_len() < link.to then tree:add_proto_expert_info(e.cut) end
  if link.rh_tvb:captured_len() < link.rh_at + RH_BYTES then
    pinfo.cols.info = "[cut]"
    return false
  end
  return true
end

-- Everything from the RH on. `link` holds the facts of the network header:
--   rh_tvb, rh_at      the place of the RH
--   at, to             begin of the commands in `tvb`, and end of the PDU, R-CRC included
--   may_have_fcs       the capture may have left the FCS behind the PDU
--   trailer_at         begin of the bytes behind the PDU
--   from, far, where   sender, receiver and session; nil where the header does not tell
--   is_address_of      whether an XPU has the source address
--   dropped            a receiver drops the frame because of its header
local function dissect_pdu(tvb, pinfo, tree, link)
  if not is_whole(tvb, pinfo, tree, link) then return end
  local pdu, rh_item = dissect_rh(link.rh_tvb, link.rh_at, tree)
  if link.is_address_of and not link.is_address_of(pdu.xpuid) then
    rh_item:add_proto_expert_info(e.source)
    link.dropped = true
  end

  local captured = tvb:captured_len()
  if pdu.ver == SEALED_DATA_VERSION or pdu.ver == SEALED_CONTROL_VERSION then
    local text, broken = dissect_sealed(tvb, link, pdu.ver, tree)
    local answer = OPS[pdu.op] ~= "nothing" and string.format(" %s=%d", OPS[pdu.op], pdu.rpsn) or ""
    if link.trailer_at and captured > link.trailer_at then
      tree:add(f.trailer, tvb(link.trailer_at, captured - link.trailer_at))
    end
    text = string.format("%s PSN=%d%s VC=%d %s", link.arrow or string.format("XPU %d", pdu.xpuid),
      pdu.psn, answer, pdu.vc, text)
    tree:append_text(", " .. text)
    if broken then
      add_generated(tree, f.malformed, broken)
      text = string.format("%s [malformed: %s]", text, broken)
    end
    pinfo.cols.info = text
    return
  end
  local rcrc_at, expected, fcs_at = find_rcrc(tvb, link)
  local text, broken
  if pdu.ver == CONTROL_VERSION then
    pdu.control, text, broken = dissect_control(tvb, link.at, rcrc_at, captured, tree)
  else
    local bytes
    pdu.commands, bytes, broken = dissect_commands(tvb, link.at, rcrc_at, captured, tree, pdu,
      pinfo)
    add_generated(tree, f.commands, pdu.commands)
    add_generated(tree, f.commands_bytes, bytes)
    local answer = OPS[pdu.op] ~= "nothing" and string.format(" %s=%d", OPS[pdu.op], pdu.rpsn) or ""
    text = string.format("PSN=%d%s VC=%d commands=%d (%d bytes)", pdu.psn, answer, pdu.vc,
      pdu.commands, bytes)
  end
  local status = dissect_rcrc(tvb, rcrc_at, expected, tree)
  if fcs_at then tree:add(f.fcs, tvb(fcs_at, RCRC_BYTES)) end
  if link.trailer_at and captured > link.trailer_at then
    tree:add(f.trailer, tvb(link.trailer_at, captured - link.trailer_at))
  end
  text = string.format("%s %s", link.arrow or string.format("XPU %d", pdu.xpuid), text)
  tree:append_text(", " .. text)

  local marks = {}
  if status == RCRC_BAD then marks[#marks + 1] = "bad R-CRC" end
  if broken then
    add_generated(tree, f.malformed, broken)
    marks[#marks + 1] = "malformed: " .. broken
  end
  -- A PDU that a receiver drops without an answer is no part of a sequence, and neither is a PDU that an ICMP
  -- message quotes.
  local accepted = not link.dropped and not broken and status ~= RCRC_BAD
  if accepted and pdu.services and not pinfo.in_error_pkt then services.follow(pdu, link, pinfo) end
  local counts = accepted and link.from and (pdu.ver == DATA_VERSION or pdu.control)
  if counts and not pinfo.in_error_pkt then
    if not pinfo.visited then analyse(pdu, link, pinfo) end
    if found[pinfo.number] then show_analysis(found[pinfo.number], tree, marks) end
  end
  if #marks > 0 then text = string.format("%s [%s]", text, table.concat(marks, "] [")) end
  pinfo.cols.info = text
end

-- ---- Network headers ----------------------------------------------------------------------------

local ip_src, ipv6_src = Field.new("ip.src"), Field.new("ipv6.src")

local afh_ethertypes, udp_ports, mac_prefix

local function start_tree(tvb, pinfo, root, encap)
  pinfo.cols.protocol = "SUE"
  pinfo.cols.info = ""
  local tree = root:add(suede, tvb())
  add_generated(tree, f.encap, encap)
  return tree
end

-- The text of an address of IP. It may be a name, found out between two frames or shared by two
-- addresses, so that addresses themselves are compared and keep the text they were first seen with.
local function ip_text(address)
  for _, known in ipairs(ip_addresses) do
    if known.address == address then return known.text end
  end
  local text = tostring(address)
  for _, known in ipairs(ip_addresses) do
    if known.text == text then text = string.format("%s (%d)", text, #ip_addresses) end
  end
  ip_addresses[#ip_addresses + 1] = { address = address, text = text }
  return text
end

-- The encapsulation of the datagram, by the inner IP where IP is in IP. Fields are known only where they are shown.
local function udp_encap()
  local v4, v6 = { ip_src() }, { ipv6_src() }
  v4, v6 = v4[#v4], v6[#v6]
  return v6 and (not v4 or v6.offset > v4.offset) and "udp6" or "udp4"
end

local function dissect_udp(tvb, pinfo, root)
  -- A reply to a PDU's source port goes elsewhere; "Decode As" brings any port.
  if holds(udp_ports, pinfo.src_port) and not holds(udp_ports, pinfo.dst_port) then return 0 end
  local tree = start_tree(tvb, pinfo, root, udp_encap())
  local link = { rh_tvb = tvb, rh_at = 0, at = RH_BYTES, to = tvb:reported_len(),
    from = ip_text(pinfo.net_src), far = ip_text(pinfo.net_dst),
    where = string.format(" port %d", pinfo.src_port) }
  if pinfo.src_port >= FIRST_SOURCE_PORT then
    local session = pinfo.src_port - FIRST_SOURCE_PORT
    link.where = string.format(" session %d", session)
    link.session, link.is_udp = session, true
    add_generated(tree, f.session, session)
  end
  dissect_pdu(tvb, pinfo, tree, link)
  return tvb:captured_len()
end

-- A forwarding address, for people: instance.xpuid where it can be taken apart.
local function address_text(address)
  if not suede.prefs.default_addresses or address >= 2 ^ 16 then
    return string.format("0x%x", address)
  end
  return string.format("%d.%d", math.floor(address / 1024), address % 1024)
end

local function add_address(tree, name, range)
  local address = range:uint()
  local item = tree:add(f["afh_" .. name], range)
  if suede.prefs.default_addresses and address < 2 ^ 16 then
    item:append_text(" (" .. address_text(address) .. ")")
    add_generated(tree, f["afh_" .. name .. "_instance"], range, math.floor(address / 1024))
    add_generated(tree, f["afh_" .. name .. "_xpuid"], range, address % 1024)
  end
end

-- A port speaks one encapsulation, so that equal addresses in two of them are two connections.
local function set_addresses(link, source, destination, encap)
  link.from, link.far, link.where = address_text(source), address_text(destination), " " .. encap
  link.arrow = link.from .. " > " .. link.far
  link.is_address_of = function(xpuid)
    return not suede.prefs.default_addresses or source % 1024 == xpuid
  end
end

-- The dissector of an EtherType gets no MAC addresses, so that they are kept when the whole frame
-- is seen. Fields would not do: they are known only where they are shown.
local addresses_of = {}  -- frame, destination, source

local function keep_mac_addresses(tvb, pinfo)
  addresses_of = { frame = pinfo.number, destination = tvb(0, 6), source = tvb(6, 6) }
end

-- Whether a frame is of AFH Gen 1, by its addresses if there are any.
local function is_gen_1(pinfo)
  if addresses_of.frame ~= pinfo.number then return true end
  return addresses_of.destination:raw(0, 4) == mac_prefix and
    addresses_of.source:raw(0, 4) == mac_prefix
end

local function add_mac_addresses(afh, pinfo, link, encap)
  if addresses_of.frame ~= pinfo.number then return end
  local destination, source = addresses_of.destination(4, 2), addresses_of.source(4, 2)
  add_address(afh, "dst", destination)
  add_address(afh, "src", source)
  set_addresses(link, source:uint(), destination:uint(), encap)
end

local function dissect_afh1(tvb, pinfo, root)
  local encap = suede.prefs.afh_encap
  if encap ~= AFH1 and (encap ~= AUTO or not is_gen_1(pinfo)) then return 0 end
  local tree = start_tree(tvb, pinfo, root, "afh1")
  local link = { rh_tvb = tvb, rh_at = 0, at = RH_BYTES, to = tvb:reported_len(),
    may_have_fcs = true }
  add_mac_addresses(tree:add(f.afh):set_text("AFH Gen 1"):set_generated(), pinfo, link, "afh1")
  dissect_pdu(tvb, pinfo, tree, link)
  return tvb:captured_len()
end

-- Adds the fields of a header from byte `from` of the frame on, or a later one; `tvb` starts at byte
-- `start`.
local function add_fields(afh, tvb, header, start, from)
  local items = {}
  for _, field in ipairs(header.fields) do
    local range = field.at >= from and tvb(field.at - start, field.bytes)
    if range and (field.name == "dst" or field.name == "src") then
      add_address(afh, field.name, range)
    elseif range and field.proto then
      items[field.name] = { item = afh:add(field.proto, range), range = range, field = field }
    end
  end
  return items
end

local function value_of(field, range)
  local value = range:uint()
  return field.mask and math.floor(band(value, field.mask) / 2 ^ field.shift) or value
end

-- The dissector of a header behind prefixed addresses and an EtherType of its own.
local function dissector_of(header)
  local bytes = header.bytes - ETHERNET_BYTES
  return function(tvb, pinfo, root)
    if tvb:captured_len() < bytes then return 0 end
    for _, field in ipairs(header.fields) do
      if field.value and field.at >= ETHERNET_BYTES and
         value_of(field, tvb(field.at - ETHERNET_BYTES, field.bytes)) ~= field.value then
        return 0
      end
    end
    local tree = start_tree(tvb, pinfo, root, header.name)
    local link = { rh_tvb = tvb, rh_at = bytes, at = bytes + RH_BYTES, to = tvb:reported_len(),
      may_have_fcs = true }
    local afh = tree:add(f.afh, tvb(0, bytes)):set_text(header.title)
    add_mac_addresses(afh, pinfo, link, header.name)
    local items = add_fields(afh, tvb, header, ETHERNET_BYTES, ETHERNET_BYTES)
    local hops, entropy, length = items.hop_count, items.entropy or items.flow_label, items.length
    if entropy then
      local is_valid = not items.f or value_of(items.f.field, items.f.range) == 1
      link.session = is_valid and value_of(entropy.field, entropy.range) or 0
      add_generated(tree, f.session, link.session)
    end
    if hops and value_of(hops.field, hops.range) == 0 then
      hops.item:add_proto_expert_info(e.hops)
      link.dropped = true
    end
    if length then
      link.to = bytes + value_of(length.field, length.range)
      link.trailer_at = link.to
      link.may_have_fcs = nil
    end
    if link.to > tvb:reported_len() then
      length.item:add_proto_expert_info(e.shim)
      add_generated(tree, f.malformed, "shim")
      pinfo.cols.info = "[malformed: shim]"
    else
      dissect_pdu(tvb, pinfo, tree, link)
    end
    return tvb:captured_len()
  end
end

local AFH2_BYTES = HEADERS.afh2.bytes  -- EtherType included
local ETHERTYPE_IPV4, ETHERTYPE_IPV6 = 0x0800, 0x86dd

-- The fields of a header in place of MAC addresses: those of the first byte are within its item.
local function add_afh2_fields(tree, tvb, header)
  local afh = tree:add(f.afh, tvb(0, AFH2_BYTES)):set_text(header.title)
  local first = afh:add(f.afh_byte, tvb(0, 1))
  for _, field in ipairs(header.fields) do
    if field.at == 0 then first:add(field.proto, tvb(0, 1)) end
  end
  add_fields(afh, tvb, header, 0, 1)
  return first
end

local function dissect_afh2(tvb, pinfo, root)
  local tree = start_tree(tvb, pinfo, root, "afh2")
  local first = add_afh2_fields(tree, tvb, HEADERS.afh2)
  add_generated(tree, f.session, tvb(7, 1):uint())
  if tvb(0, 1):bitfield(0, 1) == 1 then first:add_proto_expert_info(e.w) end
  local link = { rh_tvb = tvb, rh_at = AFH2_BYTES, at = AFH2_BYTES + RH_BYTES,
    to = tvb:reported_len(), may_have_fcs = true, session = tvb(7, 1):uint() }
  set_addresses(link, tvb(8, 4):uint(), tvb(2, 4):uint(), "afh2")
  dissect_pdu(tvb, pinfo, tree, link)
end

-- The RH that C and the source address stand for, in a buffer of its own. C, most significant bit
-- first: ver 2, op 2, psn 16, vc 2, partition 10, rpsn 16.
local function canonical_rh(tvb)
  local ver_op = tvb(1, 1):bitfield(0, 4)
  local psn = tvb(1, 3):bitfield(4, 16)
  local vc = tvb(3, 1):bitfield(4, 2)
  local partition = tvb(3, 1):bitfield(6, 2) * 256 + tvb(7, 1):uint()
  local xpuid = tvb(10, 2):bitfield(6, 10)
  local text = string.format("%04x%04x%04x%04x", ver_op * 4096 + xpuid, psn, vc * 16384 + partition,
    tvb(8, 2):uint())
  return ByteArray.new(text):tvb("Reliability header")
end

local function dissect_afh2c(tvb, pinfo, root)
  local tree = start_tree(tvb, pinfo, root, "afh2c")
  local first = add_afh2_fields(tree, tvb, HEADERS.afh2c)
  if tvb(0, 1):bitfield(0, 1) == 0 then first:add_proto_expert_info(e.w) end
  local link = { rh_tvb = canonical_rh(tvb), rh_at = 0, at = AFH2_BYTES, to = tvb:reported_len(),
    may_have_fcs = true }
  set_addresses(link, tvb(10, 2):uint(), tvb(4, 2):uint(), "afh2c")
  dissect_pdu(tvb, pinfo, tree, link)
end

-- Sees each Ethernet frame before the dissector of Ethernet does, which is the place that Wireshark
-- has for frames that only look like Ethernet: the bytes of AFH Gen 2 are no MAC addresses.
local function dissect_afh2_frame(tvb, pinfo, root)
  if tvb:captured_len() < AFH2_BYTES then return false end
  local ethertype = tvb(12, 2):uint()
  if ethertype == ETHERTYPE_IPV4 or ethertype == ETHERTYPE_IPV6 then return false end
  keep_mac_addresses(tvb, pinfo)  -- ours may come behind a tag
  if not holds(afh_ethertypes, ethertype) then return false end
  local encap = suede.prefs.afh_encap
  if encap == AUTO then
    if is_gen_1(pinfo) then return false end
    local first = tvb(0, 1):uint()
    if band(first, 0x7e) ~= 0x02 then return false end  -- V, zero, Z, Y: 0; X: 1
    encap = first >= 0x80 and AFH2C or AFH2
  end
  if encap == AFH2 then
    dissect_afh2(tvb, pinfo, root)
  elseif encap == AFH2C then
    dissect_afh2c(tvb, pinfo, root)
  else
    return false
  end
  return true
end

-- ---- Link frames (docs/link.md) -----------------------------------------------------------------

local link = Proto("suede_link", "Scale-Up Ethernet link")
local LINK_DATA, LINK_HELLO, LINK_CF_UPDATE, LINK_CC_UPDATE = 1, 2, 5, 6
local LINK_KINDS = { [LINK_DATA] = "DATA", [LINK_HELLO] = "HELLO", [3] = "ACK", [4] = "NACK",
                     [LINK_CF_UPDATE] = "CF_UPDATE", [LINK_CC_UPDATE] = "CC_UPDATE" }
local LINK_BYTES = 6         -- behind the EtherType
local LINK_HELLO_BYTES = 166
local LINK_PLACED_BYTES = 178  -- of a HELLO with a place
local LINK_VCS = 32
local lf = {
  kind = ProtoField.uint16("suede_link.kind", "Kind", base.DEC, LINK_KINDS, 0xf000),
  tag = ProtoField.uint16("suede_link.tag", "Tag", base.HEX, nil, 0x0fff),
  sequence = ProtoField.uint16("suede_link.sequence", "Sequence"),
  acknowledged = ProtoField.uint16("suede_link.acknowledged", "Acknowledged"),
  version = ProtoField.uint8("suede_link.version", "Version"),
  llr = ProtoField.bool("suede_link.llr", "Offers LLR", 8, nil, 0x01),
  cbfc = ProtoField.bool("suede_link.cbfc", "Offers CBFC", 8, nil, 0x02),
  hears = ProtoField.bool("suede_link.hears", "Hears the session", 8, nil, 0x80),
  nonce = ProtoField.uint64("suede_link.nonce", "Nonce", base.HEX),
  echo = ProtoField.uint64("suede_link.echo", "Echo", base.HEX),
  window_frames = ProtoField.uint16("suede_link.window_frames", "Window, frames"),
  window_octets = ProtoField.uint32("suede_link.window_octets", "Window, octets"),
  credit_octets = ProtoField.uint16("suede_link.credit_octets", "Octets of a credit"),
  credit_overhead = ProtoField.int16("suede_link.credit_overhead", "Overhead of a frame, octets"),
  limit = ProtoField.uint32("suede_link.limit", "Limit of a link VC, credits"),
  place = ProtoField.bool("suede_link.place", "Has a place", 8, nil, 0x80),
  mesh = ProtoField.uint16("suede_link.mesh", "Mesh"),
  device = ProtoField.uint16("suede_link.device", "Device"),
  port = ProtoField.uint8("suede_link.port", "Port"),
  plane = ProtoField.uint8("suede_link.plane", "Plane", base.DEC, nil, 0x0f),
  specification = ProtoField.uint64("suede_link.specification", "Specification", base.HEX),
  count = ProtoField.uint8("suede_link.count", "Entries"),
  vc = ProtoField.uint32("suede_link.vc", "Link VC", base.DEC, nil, 0xf8000000),
  start = ProtoField.bool("suede_link.start", "Start", 32, nil, 0x04000000),
  counter = ProtoField.uint32("suede_link.counter", "Counter, credits", base.DEC, nil, 0x000fffff),
  ethertype = ProtoField.uint16("suede_link.ethertype", "EtherType behind the shim", base.HEX),
}
for _, field in pairs(lf) do table.insert(link.fields, field) end

local function dissect_link_place(tvb, subtree)
  if tvb:len() < LINK_PLACED_BYTES then return end
  subtree:add(lf.place, tvb(171, 1))
  if tvb(171, 1):bitfield(0, 1) == 0 then return end
  subtree:add(lf.mesh, tvb(166, 2))
  subtree:add(lf.device, tvb(168, 2))
  subtree:add(lf.port, tvb(170, 1))
  subtree:add(lf.plane, tvb(171, 1))
  subtree:add(lf.specification, tvb(172, 6))
end

local function dissect_link_credit(tvb, subtree)
  if tvb(7, 1):bitfield(6, 1) == 0 then return end
  subtree:add(lf.credit_octets, tvb(34, 2))
  subtree:add(lf.credit_overhead, tvb(36, 2))
  for vc = 0, LINK_VCS - 1 do
    local limit = tvb(38 + 4 * vc, 4)
    if limit:uint() ~= 0 then
      subtree:add(lf.limit, limit):prepend_text(string.format("Link VC %d: ", vc))
    end
  end
end

local function dissect_link_hello(tvb, subtree)
  if tvb:len() < LINK_HELLO_BYTES then return end
  subtree:add(lf.version, tvb(6, 1))
  subtree:add(lf.llr, tvb(7, 1))
  subtree:add(lf.cbfc, tvb(7, 1))
  subtree:add(lf.hears, tvb(7, 1))
  subtree:add(lf.nonce, tvb(10, 8))
  subtree:add(lf.echo, tvb(18, 8))
  subtree:add(lf.window_frames, tvb(26, 2))
  subtree:add(lf.window_octets, tvb(30, 4))
  dissect_link_credit(tvb, subtree)
  dissect_link_place(tvb, subtree)
end

-- Credits that were freed or consumed, by link VC.
local function dissect_link_update(tvb, subtree)
  if tvb:len() < 10 then return end
  subtree:add(lf.count, tvb(6, 1))
  for i = 0, math.min(tvb(6, 1):uint(), LINK_VCS) - 1 do
    if tvb:len() < 14 + 4 * i then return end
    local entry = tvb(10 + 4 * i, 4)
    subtree:add(lf.vc, entry)
    subtree:add(lf.start, entry)
    subtree:add(lf.counter, entry)
  end
end

function link.dissector(tvb, pinfo, tree)
  if tvb:len() < LINK_BYTES then return 0 end
  local kind = tvb(0, 2):bitfield(0, 4)
  local subtree = tree:add(link, kind == LINK_DATA and tvb(0, LINK_BYTES) or tvb())
  subtree:add(lf.kind, tvb(0, 2))
  subtree:add(lf.tag, tvb(0, 2))
  subtree:add(lf.sequence, tvb(2, 2))
  subtree:add(lf.acknowledged, tvb(4, 2))
  local name = LINK_KINDS[kind] or "unknown kind"
  subtree:append_text(", " .. name)
  pinfo.cols.protocol = "SUE link"
  pinfo.cols.info = name
  if kind == LINK_HELLO then dissect_link_hello(tvb, subtree) end
  if kind == LINK_CF_UPDATE or kind == LINK_CC_UPDATE then dissect_link_update(tvb, subtree) end
  if kind == LINK_DATA and tvb:len() > LINK_BYTES + 2 then
    subtree:add(lf.ethertype, tvb(LINK_BYTES, 2))
    DissectorTable.get("ethertype"):try(tvb(LINK_BYTES, 2):uint(), tvb(LINK_BYTES + 2):tvb(), pinfo,
                                        tree)
  end
  return tvb:len()
end

-- ---- Registration -------------------------------------------------------------------------------

-- UDP and "Decode As" see the main protocol. A dissector table takes protocols only, so
-- that the EtherTypes have protocols without fields of their own.
suede.dissector = dissect_udp
local afh1 = Proto("suede_afh1", "Scale-Up Ethernet behind AFH Gen 1")
afh1.dissector = dissect_afh1
local with_own_ethertype = {}  -- protocols, by the preference that has their EtherTypes
for _, header in pairs(HEADERS) do
  if has_own_ethertype(header) then
    local protocol = Proto("suede_" .. header.name, "Scale-Up Ethernet behind " .. header.title)
    protocol.dissector = dissector_of(header)
    with_own_ethertype[ethertype_pref(header)] = protocol
  end
end
suede:register_heuristic("eth", dissect_afh2_frame)

local registered = {}

local function register(name, ranges, protocol)
  local table_ = DissectorTable.get(name)
  local key = name .. " " .. protocol.name
  if registered[key] then table_:remove(registered[key], protocol) end
  registered[key] = tostring(ranges) ~= "" and tostring(ranges) or nil
  if registered[key] then table_:add(registered[key], protocol) end
end

local function use_preferences()
  local prefs = suede.prefs
  udp_ports = read_ranges(prefs.udp_port)
  afh_ethertypes = read_ranges(prefs.afh_ethertype)
  mac_prefix = prefs.mac_prefix:gsub("[^%x]", ""):gsub("%x%x", function(byte)
    return string.char(tonumber(byte, 16))
  end)
  register("udp.port", prefs.udp_port, suede)
  register("ethertype", prefs.afh_ethertype, afh1)
  register("ethertype", prefs.link_ethertype, link)
  for pref, protocol in pairs(with_own_ethertype) do
    register("ethertype", prefs[pref], protocol)
  end
end
suede.prefs_changed = use_preferences
use_preferences()

-- ---- PSN over time ------------------------------------------------------------------------------

-- A tap that writes a line for each sequenced PDU and for each number that answers one:
-- time,connection,psn,kind. `on_draw` is told how many lines there are, when that is to be shown.
-- Returns the function that ends the tap.
local function write_psns(path, on_draw)
  local file, lines
  local function open()
    if file then file:close() end
    file = assert(io.open(path, "w"))
    lines = 0
    file:write("time,connection,psn,kind\n")
  end
  open()

  local tap = Listener.new()
  local stale = false
  local function write(pinfo, connection, psn, kind)
    file:write(string.format("%.9f,%s,%d,%s\n", pinfo.rel_ts, connection, psn, kind))
    lines = lines + 1
  end
  function tap.packet(pinfo)
    if stale then open() end
    stale = false
    local result = found[pinfo.number]
    if not result then return end
    if result.kind then write(pinfo, result.direction, result.psn, result.kind) end
    if result.answer then write(pinfo, result.answer_label, result.answer_psn, result.answer) end
  end
  -- Called before packets come once more, and also at the end, when the lines are to stay.
  function tap.reset() stale = true end
  function tap.draw()
    file:flush()
    if on_draw then on_draw(lines) end
  end
  return function()
    tap:remove()
    file:close()
  end
end

-- From Wireshark 4.4 on a plugin is loaded by `require`, whose arguments are a module's name and its file.
local function is_of_require(arguments)
  return #arguments == 2 and not arguments[1]:find("=") and arguments[2]:find("%.lua$") ~= nil
end

local function read_arguments(arguments)
  if is_of_require(arguments) then return end
  for _, argument in ipairs(arguments) do
    local path = argument:match("^psn=(.+)$")
    if not path then error("suede.lua: knows the argument psn=FILE, and not " .. argument) end
    write_psns(path)
  end
end

if gui_enabled() then
  local function ask()
    new_dialog("SUE: PSN over time", function(path)
      local window = TextWindow.new("SUE: PSN over time")
      window:set_atclose(write_psns(path, function(lines)
        window:set(string.format("%d lines in %s\nClosing this window ends it.\n", lines, path))
      end))
      retap_packets()
    end, "CSV file to write")
  end
  register_menu("SUE/PSN over time", ask, MENU_TOOLS_UNSORTED)
end

rawset(_G, "suede_dissector", { read_arguments = read_arguments })
read_arguments({...})
