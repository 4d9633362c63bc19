# SPDX-License-Identifier: Apache-2.0
"""The tables of SONiC's CONFIG_DB that suedectl writes: keys, fields, ranges and references, as SONiC's YANG models
have them."""

import re


def number(least, most):
    return lambda text, db: re.fullmatch(r"\d+", text) is not None and least <= int(text) <= most


def one_of(*values):
    return lambda text, db: text in values


def like(pattern):
    return lambda text, db: re.fullmatch(pattern, text) is not None


def row_of(*tables):
    """A reference to a row by its whole key."""
    return lambda text, db: any(text in db.get(table, {}) for table in tables)


def list_of(check):
    return lambda texts, db: isinstance(texts, list) and len(texts) > 0 and all(check(text, db) for text in texts)


NAME = like(r"[a-zA-Z0-9][-a-zA-Z0-9_]{0,31}")
ANY_NAME = like(r"\S{1,128}")
BYTES = number(0, 2**64 - 1)
CLASS = number(0, 7)
CLASSES = like(r"([0-7](,[0-7])*)?")
MAC = like(r"[0-9a-fA-F]{2}(:[0-9a-fA-F]{2}){5}")
HASH = list_of(one_of("IN_PORT", "DST_MAC", "SRC_MAC", "ETHERTYPE", "VLAN_ID", "IP_PROTOCOL", "DST_IP", "SRC_IP",
                      "L4_DST_PORT", "L4_SRC_PORT", "IPV6_FLOW_LABEL"))
COLORS = {f"{color}_{field}": check for color in ("green", "yellow", "red") for field, check in (
    ("min_threshold", BYTES), ("max_threshold", BYTES), ("drop_probability", number(0, 100)))}


class Table:
    """`keys`: a check for each part of a row's key. `fields`: those of a row; `needed` ones are in every row. `map_of`:
    the row is a map, with checks of its keys and values."""

    def __init__(self, keys, fields=None, needed=(), map_of=None):
        self.keys, self.fields, self.needed, self.map_of = keys, fields or {}, needed, map_of

    def errors(self, name, key, row, db):
        parts = key.split("|")
        if len(parts) != len(self.keys):
            return [f"{name}: {key}: {len(self.keys)} parts"]
        wrong = [f"{name}: {key}: {part}" for part, check in zip(parts, self.keys) if not check(part, db)]
        if self.map_of:
            return wrong + [f"{name}: {key}: {one}={other}" for one, other in row.items()
                            if not (self.map_of[0](one, db) and self.map_of[1](other, db))]
        wrong += [f"{name}: {key}: no {field}" for field in self.needed if field not in row]
        return wrong + [f"{name}: {key}: {field}={value}" for field, value in row.items()
                        if field not in self.fields or not self.fields[field](value, db)]


PORT_OF = row_of("PORT")
TABLES = {
    "PORT": Table([ANY_NAME], {"admin_status": one_of("up", "down"), "description": like(r".{0,255}"),
                               "mtu": number(68, 9216), "lanes": like(r".{1,128}"), "speed": number(1, 1600000),
                               "alias": like(r".{1,128}")}),
    "VLAN": Table([like(r"Vlan([2-9]|[1-9]\d{1,3})")], {"vlanid": number(2, 4094)}, ["vlanid"]),
    "VLAN_MEMBER": Table([row_of("VLAN"), PORT_OF], {"tagging_mode": one_of("tagged", "untagged", "priority_tagged")},
                         ["tagging_mode"]),
    "FDB": Table([row_of("VLAN"), MAC], {"port": PORT_OF}, ["port"]),
    "DSCP_TO_TC_MAP": Table([NAME], map_of=(number(0, 63), number(0, 15))),
    "DOT1P_TO_TC_MAP": Table([NAME], map_of=(CLASS, number(0, 15))),
    "TC_TO_QUEUE_MAP": Table([NAME], map_of=(number(0, 15), number(0, 9))),
    "TC_TO_PRIORITY_GROUP_MAP": Table([NAME], map_of=(number(0, 15), CLASS)),
    "MAP_PFC_PRIORITY_TO_QUEUE": Table([NAME], map_of=(CLASS, CLASS)),
    "PORT_QOS_MAP": Table([PORT_OF], {
        "dscp_to_tc_map": row_of("DSCP_TO_TC_MAP"), "dot1p_to_tc_map": row_of("DOT1P_TO_TC_MAP"),
        "tc_to_queue_map": row_of("TC_TO_QUEUE_MAP"), "tc_to_pg_map": row_of("TC_TO_PRIORITY_GROUP_MAP"),
        "pfc_to_queue_map": row_of("MAP_PFC_PRIORITY_TO_QUEUE"), "pfc_enable": CLASSES, "pfcwd_sw_enable": CLASSES}),
    "SCHEDULER": Table([ANY_NAME], {"type": one_of("DWRR", "WRR", "STRICT"), "weight": number(1, 100)}),
    "QUEUE": Table([PORT_OF, CLASS], {"scheduler": row_of("SCHEDULER"), "wred_profile": row_of("WRED_PROFILE")}),
    "WRED_PROFILE": Table([NAME], {
        "ecn": one_of("ecn_none", "ecn_green", "ecn_all"), **COLORS,
        **{f"wred_{color}_enable": one_of("true", "false") for color in ("green", "yellow", "red")}}),
    "BUFFER_POOL": Table([ANY_NAME], {"type": one_of("ingress", "egress", "both"), "mode": one_of("static", "dynamic"),
                                      "size": BYTES, "xoff": BYTES}, ["type", "mode"]),
    "BUFFER_PROFILE": Table([ANY_NAME], {
        "pool": row_of("BUFFER_POOL"), "size": BYTES, "dynamic_th": like(r"-[1-8]|[0-7]"), "static_th": BYTES,
        "xon": BYTES, "xon_offset": BYTES, "xoff": BYTES, "packet_discard_action": one_of("drop", "trim")},
                            ["pool", "size"]),
    "BUFFER_PG": Table([PORT_OF, like(r"[0-7](-[0-7])?")], {"profile": row_of("BUFFER_PROFILE")}, ["profile"]),
    "BUFFER_QUEUE": Table([PORT_OF, like(r"[0-9](-[0-9])?")], {"profile": row_of("BUFFER_PROFILE")}, ["profile"]),
    "PFC_WD": Table([lambda text, db: text == "GLOBAL" or PORT_OF(text, db)], {
        "POLL_INTERVAL": number(100, 1000), "action": one_of("drop", "forward", "alert"),
        "detection_time": number(100, 5000), "restoration_time": number(100, 60000)}),
    "SWITCH_TRIMMING": Table([one_of("GLOBAL")], {"size": number(1, 2**32 - 1), "dscp_value": number(0, 63),
                                                  "queue_index": number(0, 255)}),
    "SWITCH_HASH": Table([one_of("GLOBAL")], {"ecmp_hash": HASH, "lag_hash": HASH}),
    "LLR_PROFILE": Table([ANY_NAME], {
        "max_outstanding_frames": number(0, 524288), "max_outstanding_bytes": number(0, 2**32 - 1),
        "max_replay_count": number(1, 255), "max_replay_timer": number(0, 65535),
        "data_age_timeout": number(0, 4290000000)}, ["max_outstanding_frames", "max_outstanding_bytes"]),
    "LLR_PORT": Table([PORT_OF], {
        "llr_mode": one_of("static", "dynamic"), "llr_local": one_of("enabled", "disabled"),
        "llr_remote": one_of("enabled", "disabled"), "llr_profile": row_of("LLR_PROFILE")}),
}


def errors_of(db):
    """Each table, row and field that the models do not permit."""
    wrong = [f"no table {name}" for name in db if name not in TABLES]
    for name, rows in db.items():
        for key, row in rows.items() if name in TABLES else ():
            wrong += TABLES[name].errors(name, key, row, db)
    for key, row in db.get("VLAN", {}).items():
        if key != f"Vlan{row['vlanid']}":
            wrong.append(f"VLAN: {key}: vlanid={row['vlanid']}")
    return wrong
