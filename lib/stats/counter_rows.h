// SPDX-License-Identifier: Apache-2.0
// The rows of counters.h. Their order is that of the registers: a new row is the last.
#ifndef SUEDE_STATS_COUNTER_ROWS_H_
#define SUEDE_STATS_COUNTER_ROWS_H_

// Identifier, name (Prometheus: suede_NAME), owner (CounterOwner), severity (Severity), sentence.
#define SUEDE_COUNTERS(X)                                                                          \
  X(TxCommands, "tx_commands_total", Instance, Info, "Commands taken from clients and packed")     \
  X(TxCommandBytes, "tx_command_bytes_total", Instance, Info,                                      \
    "Bytes of those commands, control and data")                                                   \
  X(TxPdus, "tx_pdus_total", Instance, Info, "Sequenced PDUs sent for the first time")             \
  X(TxRetransmissions, "tx_retransmissions_total", Instance, Info, "Sequenced PDUs sent again")    \
  X(TxAcks, "tx_acks_total", Instance, Info, "PDUs without commands sent to acknowledge")          \
  X(TxNacks, "tx_nacks_total", Instance, Info, "NACKs sent, alone or with commands")               \
  X(TxControlPdus, "tx_control_pdus_total", Instance, Info, "Control PDUs sent")                   \
  X(TxFrames, "tx_frames_total", Lcore, Info, "Frames that the port took")                         \
  X(TxFrameBytes, "tx_frame_bytes_total", Lcore, Info, "Bytes of those frames, without FCS")       \
  X(TxPortFull, "tx_port_full_total", Lcore, Info, "Bursts of which the port took only a part")    \
  X(TxNoFrame, "tx_no_frame_total", Instance, Error,                                               \
    "Poll iterations without a free frame to pack into")                                           \
  X(TxWaitsPacked, "tx_waits_packed_total", Instance, Info,                                        \
    "Waits of client queues that have their share of packed PDUs")                                 \
  X(TxWaitsShare, "tx_waits_share_total", Instance, Info,                                          \
    "Waits of queues whose destination has its share of PDUs in flight")                           \
  X(TxErrorMark, "tx_drop_error_mark_total", Instance, Drop,                                       \
    "Commands discarded for their error mark")                                                     \
  X(TxMalformed, "tx_drop_malformed_total", Instance, Error,                                       \
    "Records discarded that are not a command")                                                    \
  X(TxUnknownXpu, "tx_drop_unknown_xpu_total", Instance, Error,                                    \
    "Commands for an XPU that is no peer")                                                         \
  X(TxNoCredit, "tx_drop_no_credit_total", Instance, Error, "Commands sent without credit")        \
  X(TxUnreachable, "tx_drop_unreachable_total", Instance, Drop,                                    \
    "Commands given up: destination unreachable, never sent or never delivered")                   \
  X(TxInDoubt, "tx_drop_in_doubt_total", Instance, Drop,                                           \
    "Commands given up: sent, arrival unknown")                                                    \
  X(TxPeerReset, "tx_drop_peer_reset_total", Instance, Drop,                                       \
    "Commands given up: the peer restarted")                                                       \
  X(TxReset, "tx_drop_reset_total", Instance, Drop, "Commands discarded by a client's reset")      \
  X(Completions, "completions_total", Instance, Info, "Completions reported to clients")           \
  X(CompletionsLost, "completions_lost_total", Instance, Error,                                    \
    "Completions for which a client had no room")                                                  \
  X(RtoFired, "rto_total", Instance, Info, "Retransmission timeouts")                              \
  X(GoBacks, "go_back_total", Instance, Info, "Go-backs of connections")                           \
  X(Unreachable, "peer_unreachable_total", Instance, Error,                                        \
    "Times that a peer was found unreachable")                                                     \
  X(PeerResets, "peer_reset_total", Instance, Error, "Restarts of peers that were noticed")        \
  X(Pauses, "not_ready_received_total", Instance, Info, "Pauses because a receiver had no room")   \
  X(RxFrames, "rx_frames_total", Lcore, Info, "Frames received")                                   \
  X(RxFrameBytes, "rx_frame_bytes_total", Lcore, Info, "Bytes of those frames, without FCS")       \
  X(RxPdus, "rx_pdus_total", Instance, Info, "Sequenced PDUs accepted in order")                   \
  X(RxCommands, "rx_commands_total", Instance, Info, "Commands handed to clients")                 \
  X(RxCommandBytes, "rx_command_bytes_total", Instance, Info, "Bytes of those commands")           \
  X(RxUnclaimed, "rx_unclaimed_pdus_total", Instance, Info,                                        \
    "PDUs accepted that wait for a client to claim")                                               \
  X(RxAcks, "rx_acks_total", Instance, Info, "PDUs without commands received")                     \
  X(RxNacks, "rx_nacks_total", Instance, Info, "NACKs received, alone or with commands")           \
  X(RxControlPdus, "rx_control_pdus_total", Instance, Info, "Control PDUs received")               \
  X(RxRpsnInvalid, "rx_rpsn_invalid_total", Instance, Error,                                       \
    "Acknowledgements of PDUs never sent, or of a generation that a fence has ended")              \
  X(RxRpsnImplausible, "rx_rpsn_implausible_total", Instance, Error,                               \
    "Acknowledgements on PDUs whose own PSN cannot be the peer's")                                 \
  X(RxNotSue, "rx_drop_not_sue_total", Lcore, Drop, "Frames that match no rule of SUE")            \
  X(RxTruncated, "rx_drop_truncated_total", Lcore, Drop,                                           \
    "Frames whose lengths run past their end")                                                     \
  X(RxIpHeader, "rx_drop_ip_header_total", Lcore, Drop, "Frames with an impossible IP header")     \
  X(RxIpChecksum, "rx_drop_ip_checksum_total", Lcore, Drop,                                        \
    "Frames with a wrong IP header checksum")                                                      \
  X(RxUdpChecksum, "rx_drop_udp_checksum_total", Lcore, Drop, "Frames with a wrong UDP checksum")  \
  X(RxShimVersion, "rx_drop_shim_version_total", Lcore, Drop,                                      \
    "Frames with an AFH shim of another version")                                                  \
  X(RxNextHeader, "rx_drop_next_header_total", Lcore, Drop,                                        \
    "Frames whose AFH shim announces no SUE")                                                      \
  X(RxHopLimit, "rx_drop_hop_limit_total", Lcore, Drop,                                            \
    "Frames that arrived with a hop limit of 0")                                                   \
  X(RxMulticast, "rx_drop_multicast_total", Lcore, Drop, "Frames to a group")                      \
  X(RxUnknownDestination, "rx_drop_destination_total", Lcore, Drop,                                \
    "Frames for none of our instances")                                                            \
  X(RxRcrc, "rx_drop_rcrc_total", Instance, Drop, "PDUs with a wrong R-CRC")                       \
  X(RxVersion, "rx_drop_version_total", Instance, Drop, "PDUs of a reserved version")              \
  X(RxPartition, "rx_drop_partition_total", Instance, Drop, "PDUs of another partition")           \
  X(RxUnknownXpu, "rx_drop_unknown_xpu_total", Instance, Drop, "PDUs from an XPU that is no peer") \
  X(RxSource, "rx_drop_source_total", Instance, Drop,                                              \
    "PDUs whose source address is not their XPU's")                                                \
  X(RxMalformed, "rx_drop_malformed_total", Instance, Drop, "PDUs whose commands do not parse")    \
  X(RxDuplicate, "rx_drop_duplicate_total", Instance, Drop, "PDUs that had been accepted before")  \
  X(RxAhead, "rx_drop_ahead_total", Instance, Drop, "PDUs ahead of the expected one")              \
  X(RxNotReady, "rx_drop_not_ready_total", Instance, Drop,                                         \
    "PDUs refused: no room in the VC's receive ring")                                              \
  X(RxControlUnknown, "rx_control_unknown_total", Instance, Drop,                                  \
    "Control PDUs of an unknown type")                                                             \
  X(RxControlMalformed, "rx_drop_control_malformed_total", Instance, Drop,                         \
    "Control PDUs that do not parse")                                                              \
  X(HelloMismatch, "hello_mismatch_total", Instance, Error, "HELLOs of peers with other settings") \
  X(RxHelloUnverified, "rx_hello_unverified_total", Instance, Info,                                \
    "HELLOs with another identity than the peer's known one, without proof")                       \
  X(RxAssociation, "rx_drop_association_total", Instance, Drop,                                    \
    "Control PDUs of another association")                                                         \
  X(Desynchronized, "desynchronized_total", Instance, Error,                                       \
    "Associations begun anew: sequence numbers were out of step")                                  \
  X(PlaneDeaths, "plane_deaths_total", Instance, Error, "Planes to peers found dead")              \
  X(TxHeldUp, "tx_held_up_total", Instance, Error,                                                 \
    "Times that a port's device sent nothing while answers were awaited")                          \
  X(RxHeldUp, "rx_held_up_total", Instance, Info, "PLANEs that report the peer's device held up")  \
  X(PlaneReturns, "plane_ups_total", Instance, Info, "Planes to peers that came up")               \
  X(TxMoved, "tx_moved_pdus_total", Instance, Info,                                                \
    "Sequenced PDUs that left a dead plane for another")                                           \
  X(TxFences, "tx_fences_total", Instance, Info, "FENCEs sent")                                    \
  X(RxFences, "rx_fences_total", Instance, Info, "FENCEs answered")                                \
  X(RxBeforeHello, "rx_drop_before_hello_total", Instance, Drop,                                   \
    "Sequenced PDUs before the association with their sender")                                     \
  X(RxFenced, "rx_drop_fenced_total", Instance, Drop,                                              \
    "Sequenced PDUs of a generation that has ended")                                               \
  X(RxPlaneStale, "rx_plane_stale_total", Instance, Info,                                          \
    "PLANEs, FENCEs and FENCEDs that were stragglers")                                             \
  X(BusyCycles, "busy_cycles_total", Lcore, Info, "Cycles in poll iterations with work")           \
  X(IdleCycles, "idle_cycles_total", Lcore, Info, "Cycles in other poll iterations, and waiting")  \
  X(MgmtTxPackets, "mgmt_tx_packets_total", Lcore, Info,                                           \
    "Management packets merged into a port's burst")                                               \
  X(MgmtTxRate, "mgmt_tx_drop_rate_total", Lcore, Drop,                                            \
    "Management packets to send: over the rate")                                                   \
  X(MgmtTxRingFull, "mgmt_tx_drop_ring_full_total", Lcore, Drop,                                   \
    "Management packets to send: no room")                                                         \
  X(MgmtTxTooLong, "mgmt_tx_drop_too_long_total", Lcore, Drop,                                     \
    "Management packets to send: too long")                                                        \
  X(MgmtTxMalformed, "mgmt_tx_drop_malformed_total", Lcore, Drop,                                  \
    "Management packets without a header")                                                         \
  X(MgmtTxSue, "mgmt_tx_drop_sue_total", Lcore, Drop,                                              \
    "Management packets that the port takes for SUE's")                                            \
  X(MgmtRxPackets, "mgmt_rx_packets_total", Lcore, Info, "Frames that are not SUE's, handed up")   \
  X(MgmtRxRate, "mgmt_rx_drop_rate_total", Lcore, Drop,                                            \
    "Frames that are not SUE's: over the rate")                                                    \
  X(MgmtRxRingFull, "mgmt_rx_drop_ring_full_total", Lcore, Drop,                                   \
    "Frames that are not SUE's: no room")                                                          \
  X(MgmtRxCopies, "mgmt_rx_copies_total", Lcore, Info,                                             \
    "Copies of non-SUE frames that receivers took")                                                \
  X(MgmtRxCopiesLost, "mgmt_rx_copies_lost_total", Lcore, Drop,                                    \
    "Copies of non-SUE frames that a receiver did not take")                                       \
  X(NeighboursLearnt, "neighbours_learnt_total", Instance, Info,                                   \
    "MAC addresses of peers learnt or changed")                                                    \
  X(TxWaitsMac, "tx_waits_mac_total", Instance, Info,                                              \
    "Waits of queues for the peer's MAC address")                                                  \
  X(TxNoMac, "tx_drop_no_mac_total", Instance, Drop,                                               \
    "ACKs and control PDUs unsent: no MAC address yet")                                            \
  X(RxAdminDown, "rx_drop_admin_down_total", Both, Drop,                                           \
    "Frames for a port or plane that is set down")                                                 \
  X(EventsLost, "lcore_events_lost_total", Lcore, Error,                                           \
    "Events that an lcore had no room to report")                                                  \
  X(RxHandedOver, "rx_handed_over_total", Lcore, Info,                                             \
    "Frames for an instance of another lcore, forwarded to it")                                    \
  X(RxHandoverFull, "rx_drop_handover_full_total", Lcore, Drop,                                    \
    "Frames for an instance of another lcore, which did not take them in time")                    \
  X(TxWaitsCredit, "tx_waits_credit_total", Instance, Info,                                        \
    "Waits of queues for the peer's receive credit")                                               \
  X(TxCreditAsks, "tx_credit_asks_total", Instance, Info,                                          \
    "CREDITs sent that ask for receive credit")                                                    \
  X(TxCreditGrants, "tx_credit_grants_total", Instance, Info,                                      \
    "CREDITs sent that grant receive credit")                                                      \
  X(TxCreditReclaims, "tx_credit_reclaims_total", Instance, Info,                                  \
    "Requests to peers to give back unused receive credit")                                        \
  X(RxCreditGrants, "rx_credit_grants_total", Instance, Info,                                      \
    "CREDITs received that grant receive credit")                                                  \
  X(TxTooManyLines, "tx_too_many_lines_total", Instance, Error,                                    \
    "Commands given up as unreachable: no receive ring of the peer holds their lines")             \
  X(RxPfc, "rx_pfc_total", Lcore, Info, "PFC frames received and obeyed in software")              \
  X(RxPfcMalformed, "rx_drop_pfc_malformed_total", Lcore, Drop,                                    \
    "PFC frames that are too short, or go elsewhere")                                              \
  X(TxPfc, "tx_pfc_total", Lcore, Info, "PFC frames sent by the endpoint itself")                  \
  X(PfcStorms, "rx_pfc_storms_total", Lcore, Error,                                                \
    "Pauses (PFC) for which PDUs waited longer than pfc.storm_us")                                 \
  X(PfcUndrained, "tx_pfc_storms_total", Instance, Error,                                          \
    "Pauses of the neighbour that the watchdog ended: a VC did not drain for pfc.storm_us")        \
  X(TxWaitsCongestion, "tx_waits_congestion_total", Instance, Info,                                \
    "Waits of queues for congestion control")                                                      \
  X(TxCongestionRequests, "tx_congestion_requests_total", Instance, Info,                          \
    "CONGESTIONs sent that request credit (RCCC)")                                                 \
  X(RxCongestionGrants, "rx_congestion_grants_total", Instance, Info,                              \
    "CONGESTIONs received that grant credit")                                                      \
  X(RxCongestionRequests, "rx_congestion_requests_total", Instance, Info,                          \
    "CONGESTIONs received that request credit")                                                    \
  X(TxCongestionGrants, "tx_congestion_grants_total", Instance, Info,                              \
    "CONGESTIONs sent that grant credit")                                                          \
  X(TxCongestionEchoes, "tx_congestion_echoes_total", Instance, Info,                              \
    "CONGESTIONs sent that echo ECN marks and trimmed PDUs")                                       \
  X(RxCongestionEchoes, "rx_congestion_echoes_total", Instance, Info,                              \
    "CONGESTIONs received that echo ECN marks and trimmed PDUs")                                   \
  X(RxMarked, "rx_ecn_marked_total", Instance, Info,                                               \
    "Sequenced PDUs received with an ECN mark (CE)")                                               \
  X(RxTrimmed, "rx_drop_trimmed_total", Instance, Drop, "PDUs trimmed by a switch")                \
  X(RxTrimmedUnknown, "rx_drop_trimmed_unknown_total", Both, Drop,                                 \
    "Trimmed frames for no connection here")                                                       \
  X(RxSession, "rx_drop_session_total", Instance, Drop,                                            \
    "PDUs with a session number that was not agreed")                                              \
  X(RxSessions, "rx_sessions_total", Instance, Info,                                               \
    "SESSIONs answered: a peer's session has a new number")                                        \
  X(RxSessionStale, "rx_session_stale_total", Instance, Info,                                      \
    "SESSIONs that were stragglers, or fit no session")                                            \
  X(TxSessions, "tx_sessions_total", Instance, Info, "SESSIONs sent that ask for a number")        \
  X(SessionMoves, "session_moves_total", Instance, Info,                                           \
    "Sessions opened, or moved to another number")                                                 \
  X(SessionStalls, "session_stalls_total", Instance, Error,                                        \
    "Sessions that sought another path after timeouts in a row")                                   \
  X(FlowMoves, "flow_moves_total", Instance, Info,                                                 \
    "Strict: flows that changed their plane while under way")                                      \
  X(FlowRebinds, "flow_rebinds_total", Instance, Info,                                             \
    "Strict: flows that began anew on another plane")                                              \
  X(MemoryExecuted, "memory_requests_total", Instance, Info,                                       \
    "Memory requests executed by the lcore")                                                       \
  X(MemoryWrittenBytes, "memory_written_bytes_total", Instance, Info,                              \
    "Octets that these wrote by puts")                                                             \
  X(MemoryReadBytes, "memory_read_bytes_total", Instance, Info, "Octets that these read by gets")  \
  X(MemoryRefused, "memory_refused_total", Instance, Drop,                                         \
    "Memory requests refused by the lcore: window, key, partition, rights or bounds")              \
  X(MemoryDropped, "memory_dropped_total", Instance, Drop,                                         \
    "Memory requests not executed: no place for their responses")                                  \
  X(MemoryForeign, "memory_foreign_total", Instance, Drop,                                         \
    "Other commands that came to a target on the lcore")                                           \
  X(MemoryWaited, "memory_waited_total", Instance, Info,                                           \
    "Responses of the lcore that waited for credit")                                               \
  X(MemoryPassedOn, "memory_passed_on_total", Instance, Info,                                      \
    "Memory requests for windows that the client serves, passed on to it")                         \
  X(TxSealed, "tx_sealed_total", Instance, Info, "PDUs sealed, each time that they are sent")      \
  X(RxSealed, "rx_sealed_total", Instance, Info, "Sealed PDUs that were opened")                   \
  X(TxSealKey, "tx_drop_seal_key_total", Instance, Drop,                                           \
    "PDUs not sent: no key to seal them with")                                                     \
  X(RxUnsealed, "rx_drop_unsealed_total", Instance, Error,                                         \
    "Plain PDUs of peers that have to seal")                                                       \
  X(RxSealMalformed, "rx_drop_seal_malformed_total", Instance, Drop,                               \
    "Sealed PDUs that are too short, or whose shim is malformed")                                  \
  X(RxSealKey, "rx_drop_seal_key_total", Instance, Drop,                                           \
    "Sealed PDUs of another secret, epoch or association")                                         \
  X(RxSealBudget, "rx_drop_seal_budget_total", Instance, Drop,                                     \
    "Sealed PDUs that need a key beyond the bound of derivations")                                 \
  X(RxSealTag, "rx_drop_seal_tag_total", Instance, Drop, "Sealed PDUs that are not authentic")     \
  X(RxSealReplay, "rx_drop_seal_replay_total", Instance, Drop,                                     \
    "Sealed PDUs whose packet number was seen before, or is too old")                              \
  X(SealRotations, "seal_rotations_total", Instance, Info, "Epochs begun for sending")             \
  X(SealEpochs, "seal_epochs_received_total", Instance, Info, "Epochs that peers have begun")      \
  X(SessionFences, "session_fences_total", Instance, Error,                                        \
    "Sessions without progress whose PDUs moved to other sessions")                                \
  X(PlaneRates, "plane_rates_total", Instance, Info,                                               \
    "Measurements of a plane's bandwidth to a peer")                                               \
  X(PlaneRateChanges, "plane_rate_changes_total", Instance, Info,                                  \
    "Changes of the measured part of a plane's weight to a peer")                                  \
  X(PlaneSweeps, "plane_sweeps_total", Instance, Info,                                             \
    "Times that all peers were asked on planes that failed to one")                                \
  X(RxPlaneReports, "rx_plane_reports_total", Instance, Info, "PLANEs that report failed planes")  \
  X(RxSealPlane, "rx_drop_seal_plane_total", Instance, Drop,                                       \
    "Sealed PDUs that came on another plane than their own")                                       \
  X(RxRevision, "rx_drop_revision_total", Lcore, Drop,                                             \
    "Frames whose ESUN header is of an unsupported revision")                                      \
  X(TxPathProbes, "tx_path_probes_total", Instance, Info, "Probes of the path sent")               \
  X(RxPathReports, "rx_path_reports_total", Instance, Info,                                        \
    "Reports of own probes of the path, copies too")                                               \
  X(RxPathStray, "rx_drop_path_report_total", Instance, Drop,                                      \
    "Reports of the path without an own probe that waits for one")                                 \
  X(RxPathProbes, "rx_path_probes_total", Instance, Info, "Probes of the path reported")           \
  X(RxPathRefused, "rx_drop_path_probe_total", Instance, Drop,                                     \
    "Probes of the path not reported: no consent, too many, or no room to send")                   \
  X(TxRepairs, "tx_repairs_total", Instance, Info,                                                 \
    "REPAIRs sent: which PDUs have arrived early, and which are missing")                          \
  X(RxRepairs, "rx_repairs_total", Instance, Info, "REPAIRs received")                             \
  X(RxEarly, "rx_early_pdus_total", Instance, Info,                                                \
    "PDUs accepted, or kept, ahead of the expected one (selective repair)")                        \
  X(RxReorderFull, "rx_drop_reorder_full_total", Instance, Drop,                                   \
    "PDUs ahead of the expected one: the instance keeps as many as it may")

#endif  // SUEDE_STATS_COUNTER_ROWS_H_
