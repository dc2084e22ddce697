export { AUDIT_SLICE_ROWS, auditSliceSql } from './audit/slice-sql.ts';
export {
  auditedColumnIds,
  auditRangeCount,
  differingRanges,
  MAX_AUDIT_RANGES,
  TableFingerprint,
} from './audit/table-fingerprint.ts';
export { ByteReader } from './bytes/byte-reader.ts';
export { ByteWriter } from './bytes/byte-writer.ts';
export { bytesToHex } from './bytes/bytes-to-hex.ts';
export { hexToBytes } from './bytes/hex-to-bytes.ts';
export { cellValueProblem, cellValuesEqual, type CellValue } from './change/cell-value.ts';
export {
  EXISTENCE_COLUMN_ID,
  type BeforeGroup,
  type ChangeGroup,
  type ChangeKind,
  type Changeset,
  type ChangesetBody,
  type ChangesetOrigin,
  type CellBase,
} from './change/changeset.ts';
export { decodeBefore, decodeChangesetBody, encodeBefore, encodeChangesetBody } from './change/changeset-codec.ts';
export { CHANGESET_HASH_BYTES, changesetHash, FIRST_PREVIOUS_HASH, type Sha256 } from './change/changeset-hash.ts';
export { MAX_KEY_BYTES, requireInDomain, tableDomain, type TableDomain } from './change/column-domain.ts';
export { readTagged, writeTagged } from './change/column-codec.ts';
export { decodeKey, encodeKey, keyToString } from './change/primary-key.ts';
export { readSessionChangeset, type PartialRecord, type SessionRowReader } from './change/session-changeset.ts';
export { ageOfStampUs, CLOCK_TOLERANCE_MS, wasClockSet, type ClockContact } from './clock/age.ts';
export { createLocalTime, type LastStamp, type LocalTime } from './clock/local-time.ts';
export { correctStampUs, LATEST_STAMP_US, nextLocalStampUs, stampToMs, type StampCorrection } from './clock/stamp.ts';
export { createSteadyClock } from './clock/steady-clock.ts';
export {
  DEFAULT_DOCUMENT_RULE,
  MAX_DOCUMENT_DEPTH,
  MAX_DOCUMENT_LENGTH,
  type DocumentRule,
  type DocumentStorage,
} from './document/document-rule.ts';
export { diffSequences, type Splice } from './document/sequence-diff.ts';
export { diffText, type TextChange } from './document/text-diff.ts';
export {
  ERROR_CODES,
  isErrorCode,
  messageOf,
  recoveryOf,
  type ErrorCode,
  type Recovery,
} from './errors/error-codes.ts';
export { RockpoolError, toRockpoolError, type ErrorData, type ErrorFields } from './errors/rockpool-error.ts';
export {
  decodeHistoryPage,
  decodeRowAtVersion,
  encodeHistoryPage,
  encodeRowAtVersion,
  type HistoryPage,
  type HistoryPageFormat,
  type LaterColumn,
  type RowAtVersion,
  type StoredRowVersion,
  type VersionChange,
} from './history/history-page.ts';
export { VERSION_NAME_TABLE } from './history/version-name-table.ts';
export { decodeWrittenRows, encodeWrittenRows, type WrittenRow, type WrittenRows } from './history/written-rows.ts';
export { SplicedText, spliceBetween, type TextSplice } from './history/text-splice.ts';
export {
  tablePolicies,
  type CellMerge,
  type CellWrite,
  type ColumnPlace,
  type ColumnPolicy,
  type ColumnRebase,
  type TablePolicies,
} from './merge/column-policy.ts';
export { counter } from './merge/policies/counter.ts';
export {
  bindMerge,
  document,
  documentColumns,
  type AuthorKnows,
  type DocumentMerge,
  type MergedDocument,
  type OverwrittenPlace,
} from './merge/policies/document.ts';
export { lastWriter } from './merge/policies/last-writer.ts';
export { POLICY_DECLARATIONS, policiesOf, policyOf } from './merge/policies/policies.ts';
export { mergeRow } from './merge/row.ts';
export type { Cell, Conflict, MergeRule, RowChange, RowMerge, StoredRow } from './merge/row-model.ts';
export type { RowRules } from './merge/row-rules.ts';
export { compareVersions, hasSeen, NO_VERSION, type Version, type WriteVersion } from './merge/version.ts';
export type { Audit, AuditedTable } from './protocol/audit.ts';
export type { AuditAnswer, DifferingTable } from './protocol/audit-answer.ts';
export type { Confirm } from './protocol/confirm.ts';
export { FIRST_LOG_HASH, LOG_HASH_BYTES, type Delivery, type DeliveryHead } from './protocol/delivery.ts';
export type { DeliveryPart } from './protocol/delivery-part.ts';
export type { Failure } from './protocol/failure.ts';
export { FrameAssembler, messageToFrames } from './protocol/frame-codec.ts';
export { ID_BYTES, type Hello, type SnapshotPosition } from './protocol/hello.ts';
export {
  DELIVERY_PART_BYTES,
  HELLO_DEADLINE_MS,
  MAX_CHANGESET_BYTES,
  MAX_CHANGESET_CELLS,
  MAX_CHANGESET_ROWS,
  MAX_FRAME_BYTES,
  MAX_HELLO_BYTES,
  MAX_MESSAGE_BYTES,
  MAX_PACKED_BYTES,
  MAX_PRESENCE_STATE_BYTES,
  MAX_PRESENCE_STATES,
  MAX_PRESENCE_TOPIC_BYTES,
  MAX_EARLIER_SITES,
  MAX_PUSH_CHANGESETS,
  MAX_VALUE_BYTES,
  PING_INTERVAL_MS,
  PRESENCE_INTERVAL_MS,
  PUSH_BYTES,
  SILENCE_LIMIT_MS,
} from './protocol/limits.ts';
export {
  decodeClientMessage,
  decodeServerMessage,
  encodeDelivery,
  encodeDeliveryGroups,
  encodeDeliveryPart,
  encodeMessage,
  MESSAGE_CODES,
  type ClientMessage,
  type ServerMessage,
} from './protocol/message-codec.ts';
export type { Outcome } from './protocol/outcome.ts';
export { decodePacked, encodePacked, type PackedMessage } from './protocol/packed.ts';
export type { Presence, PresenceUpdate, PresenceState, SeenPresence } from './protocol/presence.ts';
export { PROTOCOL_FLOOR, PROTOCOL_VERSION, requireProtocolVersion } from './protocol/protocol-version.ts';
export type { Push, PushedChangeset } from './protocol/push.ts';
export { decodeOrigin, encodeOrigin } from './change/changeset-origin.ts';
export { decodeEarlierSites, encodeEarlierSites, type EarlierSite } from './protocol/earlier-site.ts';
export type { RenewToken } from './protocol/renew-token.ts';
export type { Welcome } from './protocol/welcome.ts';
export { buildSchema } from './schema/build-schema.ts';
export { columnSql, createIndexSql, createTableSql, quoteName, tableToDdl } from './schema/ddl.ts';
export { foreignKeyRule } from './schema/foreign-key-rule.ts';
export { columnIdOf, schemaHash, tableIdOf } from './schema/identity.ts';
export { keyMatchSql } from './schema/key-match.ts';
export { decodeSchema, encodeSchema, SCHEMA_FILE_VERSION } from './schema/schema-codec.ts';
export { decodeOutline, outlineDifferences, type SchemaDifference } from './schema/schema-difference.ts';
export { encodeOutline, outlineOf, type SchemaOutline } from './schema/schema-outline.ts';
export {
  DEFAULT_MERGE_RULES,
  DEFAULT_TOKENIZE,
  keyColumns,
  namedColumns,
  syncedTables,
  valueColumns,
  type ColumnSchema,
  type ColumnType,
  type DeleteRule,
  type DocumentColumn,
  type ForeignKeyAction,
  type ForeignKeyRule,
  type ForeignKeyRuleDeclaration,
  type ForeignKeySchema,
  type HistoryRule,
  type IndexSchema,
  type MergeRules,
  type Schema,
  type SearchIndexSchema,
  type TableSchema,
  type RenameRule,
  type UniqueRule,
} from './schema/schema.ts';
export { CONFLICT_TABLE, CONFLICT_TABLE_NAME, RESERVED_TABLE_PREFIX, SYSTEM_TABLES } from './schema/system-tables.ts';
export { DEFAULT_RENAME_SUFFIX, MAX_RENAMES, renamed } from './schema/unique-rule.ts';
export { schemaProblems, type SchemaProblem } from './schema/validate.ts';
