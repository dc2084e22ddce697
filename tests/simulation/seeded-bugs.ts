import type { Edit, SeededBug } from './seeded-bug.ts';

const client = (file: string): string => `packages/client/src/worker/${file}`;
const server = (file: string): string => `packages/sync-server/src/${file}`;
const shared = (file: string): string => `packages/shared/src/${file}`;

/** Safeguards that end a session that its database no longer serves, whatever the cause. */
const UNSERVED_SESSIONS_END: readonly Edit[] = [
  {
    file: server('session/session.ts'),
    find: 'if (this.database?.serves(this) !== true)',
    replace: 'if (this.database === null)',
  },
  { file: server('database/live-database.ts'), find: 'this.sessions.failAll(this.ended);', replace: '' },
];

/** Faults that a programmer could make, each in one line. The simulation must find every one. */
export const SEEDED_BUGS: readonly SeededBug[] = [
  {
    name: 'skip the dedupe of changesets',
    file: server('admission/chain.ts'),
    find: 'return hashed.slice(decided);',
    replace:
      'return hashed.map(({ changeset, hash }, index) => ({ changeset: { ...changeset, sequence: Math.max(changeset.sequence, next + index) }, hash }));',
  },
  {
    name: 'skip the dedupe of requests between tabs',
    file: client('write/write-transaction.ts'),
    find: 'if (known !== null) return known;',
    replace:
      'if (known !== null) this.parts.connection.run("DELETE FROM rockpool_request WHERE id IN (?1, unhex(?1, \'-\'))", requestId);',
  },
  {
    name: 'ack before commit',
    file: server('sqlite/sqlite-file.ts'),
    find: "const result = body();\n      this.database.exec('COMMIT');",
    replace: "const result = body();\n      queueMicrotask(() => this.database.exec('COMMIT'));",
  },
  {
    name: 'the earlier stamp wins',
    file: shared('merge/version.ts'),
    find: 'if (a.stampUs !== b.stampUs) return a.stampUs - b.stampUs;',
    replace: 'if (a.stampUs !== b.stampUs) return b.stampUs - a.stampUs;',
  },
  {
    name: 'tie-break between sites flipped',
    file: shared('merge/version.ts'),
    find: 'a.site < b.site ? -1 : 1',
    replace: 'a.site < b.site ? 1 : -1',
  },
  {
    name: '>= for > in the cursor',
    file: server('database/session-pushes.ts'),
    find: 'if (cursor > subscription.cursor || lastAckedSequence > subscription.lastAckedSequence)',
    replace: 'if (cursor >= subscription.cursor || lastAckedSequence > subscription.lastAckedSequence)',
  },
  {
    name: 'a row at the cursor is left out',
    file: server('pull/delivery.ts'),
    find: 'of changed.above(reader.from))',
    replace: 'of changed.above(reader.from + 1))',
  },
  {
    name: 'cursor advanced before the rows',
    file: client('apply/apply-delivery.ts'),
    find: 'const outcomes = readNewOutcomes(progress, delivery, isFirst);',
    replace:
      "const outcomes = readNewOutcomes(progress, delivery, isFirst); progress.advance(delivery, progress.lastAckedSequence); connection.exec('COMMIT'); connection.exec('BEGIN IMMEDIATE');",
  },
  {
    name: 'a correction dropped',
    file: server('admission/admit-changeset.ts'),
    find: 'corrected: correctedRows(rows) };',
    replace: 'corrected: correctedRows(rows).slice(1) };',
  },
  {
    name: 'base not recorded for a hidden value',
    file: client('write/write-transaction.ts'),
    find: 'const cellBases = findCellBases(connection, changes.groups, readUnseenColumns(meta));',
    replace: 'const cellBases = findCellBases(connection, [], readUnseenColumns(meta));',
  },
  {
    name: 'old value used for base after a rejection',
    file: client('apply/rebase-row.ts'),
    find: 'const atCursor = serverRowBeneath(row.visible, shownBefore, row.covered',
    replace:
      "const atCursor = serverRowBeneath(row.visible, shownBefore, row.pending.some(({ sequence }) => outcomeKinds.get(sequence) === 'rejected') ? new Map() : row.covered",
  },
  {
    name: 'a delta applied again after a lost reply',
    file: client('apply/rebase-row.ts'),
    find: 'const visible = isAlreadyVisible ? row.visible : fold(serverRow, shown',
    replace:
      "const visible = fold(serverRow, row.pending.filter((change) => shown.includes(change) || (outcomeKinds.get(change.sequence) === 'admitted' && delivered.length > 0))",
  },
  {
    name: 'outcome forgotten when a later changeset is admitted',
    file: server('log/outcomes.ts'),
    find: "const admitted = outcome.kind === 'admitted';",
    replace:
      "const admitted = outcome.kind === 'admitted'; sql.run('DELETE FROM rockpool_outcome WHERE site_number = ? AND sequence < ?', BigInt(siteNumber), BigInt(outcome.sequence));",
  },
  {
    name: 'stamp not corrected by age',
    file: server('admission/admit-changeset.ts'),
    find: 'ageUs: changeset.ageUs,',
    replace: 'ageUs: sender.receivedMs * 1000 - changeset.stampUs,',
  },
  {
    name: 'triggers left on while applying',
    file: client('apply/apply-transaction.ts'),
    find: 'connection.setTriggers(false);',
    replace: '',
  },
  {
    name: 'cascade run on apply',
    file: client('apply/apply-transaction.ts'),
    find: 'connection.setForeignKeys(false);',
    replace: '',
  },
  {
    name: 'a changeset split over two commits',
    file: client('write/write-transaction.ts'),
    find: 'const changes = applyMergeRules(connection, this.rules, () => documentAuthor(meta), captured);',
    replace:
      "connection.run('COMMIT'); connection.run('BEGIN IMMEDIATE'); const changes = applyMergeRules(connection, this.rules, () => documentAuthor(meta), captured);",
  },
  {
    name: 'a delivery split over two commits',
    file: client('apply/write-rows.ts'),
    find: 'touched.add(writer.table.name);',
    replace:
      "touched.add(writer.table.name); if (touched.size === 1) writers.connection.exec('COMMIT; BEGIN IMMEDIATE; SAVEPOINT rockpool_rows');",
  },
  {
    name: 'conflict-log entry skipped',
    file: server('conflict-log/conflict-rows.ts'),
    find: 'for (const conflict of conflicts) {',
    replace: 'for (const conflict of conflicts.slice(1)) {',
  },
  {
    name: 'key order of UNIQUE swaps ignored',
    file: client('apply/write-rows.ts'),
    find: 'for (const { writer, key, before } of writes) if (before.exists) writer.remove(key);\n  for (const write of writes) if (write.after.exists) put(write);',
    replace:
      'for (const { writer, key, before } of writes) if (before.exists) { writer.remove(key); const same = writes.find((write) => write.writer === writer && write.key === key); if (same?.after.exists === true) put(same); }\n  for (const write of writes) if (write.after.exists && !write.before.exists) put(write);',
  },
  {
    name: 'an atomic changeset admitted in part',
    file: server('admission/admit-changeset.ts'),
    find: 'if (atomic) requireWhole(rows, version);',
    replace: 'void atomic; void requireWhole;',
  },
  {
    // Edits the policy that both sides read: otherwise the server would reject a part of a group that it knows.
    name: 'a column group taken apart',
    file: shared('merge/policies/group.ts'),
    find: "return { name: 'group', together: columnIds };",
    replace: "void columnIds; return { name: 'group' };",
  },
  {
    name: 'tombstone pruned one too early',
    file: server('database/starting-point.ts'),
    find: 'hello.cursor < tombstones.tombstoneHorizon;',
    replace: 'hello.cursor < tombstones.tombstoneHorizon - 1;',
  },
  {
    name: 'outbox dropped on reload',
    file: client('sync/sync-progress.ts'),
    find: 'outbox.markPendingAfter(lastAckedSequence, nowMs());',
    replace: 'outbox.markAcknowledged(changelog.head().sequence, nowMs());',
  },
  {
    name: 'local tables dropped on reload',
    file: client('sync/sync-progress.ts'),
    find: 'const known = meta.logEpoch;',
    replace: "const known = meta.logEpoch; meta.connection.run('DELETE FROM draft');",
  },
  {
    name: 'site id kept in a copied file',
    file: client('sync/new-site.ts'),
    find: "meta.set('site_id', database.randomBytes(ID_BYTES));",
    replace: 'void ID_BYTES;',
  },
  {
    // Log hashes also show that the rows belong to a different log (docs/decisions/0027-links-of-the-log.md). Only the
    // log epoch shows that the loss is already known.
    name: 'log epoch ignored',
    file: server('database/starting-point.ts'),
    find: 'const isOfThisEpoch = hello.logEpoch !== null && Buffer.compare(hello.logEpoch, logEpoch.id) === 0;',
    replace: 'const isOfThisEpoch = true;',
  },
  {
    name: 'values seen in an older log count as seen',
    file: server('admission/older-epoch.ts'),
    find: 'return base > 0 && sequence <= olderEpochUpTo;',
    replace: 'return sequence < Math.min(0, olderEpochUpTo);',
  },
  {
    name: 'log epoch not renewed after the log has lost its end',
    file: server('database/joining.ts'),
    find: 'if (start.logLostSomething) {',
    replace: 'if (start.logLostSomething && start.commonUpTo < 0) {',
  },
  {
    name: 'a restored log that has continued counts as the known one',
    file: server('database/starting-point.ts'),
    find: 'const isOfAnotherLog = hello.cursor <= log.watermark &&',
    replace: 'const isOfAnotherLog = hello.cursor < 0 &&',
  },
  {
    // Clients keep no versions of delivered cells, so fingerprints cover values (docs/decisions/0011-audit.md).
    name: 'fingerprint without values',
    file: shared('audit/table-fingerprint.ts'),
    find: 'hashRow(this.hash, key, this.columnIds, cells);',
    replace: 'void cells; hashRow(this.hash, key, [], []);',
  },
  {
    name: 'deadlines by the wall clock',
    file: client('sync/sync-engine.ts'),
    find: 'this.steadyMs = createSteadyClock(this.nowMs, () => performance.now());',
    replace: 'this.steadyMs = this.nowMs; void createSteadyClock;',
  },
  {
    name: 'a lost commit notice is not repeated',
    file: 'packages/client/src/worker/leader/leadership.ts',
    find: "this.options.post({ kind: 'position', ...this.position });",
    replace: '',
  },
  {
    name: 'half of the log lost on recovery',
    file: 'packages/vfs-opfs/src/log/recovery.ts',
    find: 'return continues ? result(scan(segments, newer), first) : result(first);',
    replace: 'return result(first);',
  },
  {
    name: 'edits of documents keep their client id in a copied file',
    file: client('sync/new-site.ts'),
    find: 'if (documents.size > 0) {',
    replace: 'if (documents.size < 0) {',
  },
  {
    name: 'a client id of documents stays in use after a rejected edit',
    file: client('documents/document-author.ts'),
    find: "meta.set('document_generation', meta.documentGeneration + 1);",
    replace: "meta.set('document_generation', meta.documentGeneration);",
  },
  {
    name: 'the last author of an addition counts as having seen those of others',
    file: shared('merge/cell.ts'),
    find: 'return otherSite === undefined ? { value, version } : { value, version, otherSite };',
    replace: 'void otherSite; return { value, version };',
  },
  {
    name: 'a search index does not learn what deliveries write',
    file: client('apply/apply-transaction.ts'),
    find: 'searchIndexes.catchUp();',
    replace: 'void searchIndexes;',
  },
  {
    name: 'a late edit of a compacted document dropped',
    file: server('documents/document-work.ts'),
    find: 'const { state, overwritten, update } = carryOver(document, replaced, late.state, rule, author);',
    replace: 'const [state, overwritten, update] = [document, [], new Uint8Array([0, 0])];',
  },
  {
    name: 'the document that was compacted is not kept',
    file: server('documents/document-store.ts'),
    find: 'if (replaced !== null) sql.run(',
    replace: 'if (replaced !== null && watermark < 0) sql.run(',
  },
  {
    name: 'additions to a losing row count as kept if both rows have the same sum',
    file: shared('merge/row.ts'),
    find: 'if (isEqual && !hasMore) continue;',
    replace: 'void hasMore; if (isEqual) continue;',
  },
  {
    name: 'a commit is acknowledged before the disk has it',
    file: server('store/durability.ts'),
    find: 'whileSyncing?.(result);\n      await synced;',
    replace: 'whileSyncing?.(result);\n      synced.catch(() => undefined);',
  },
  {
    name: 'a key-only insert that loses to a deleted row is not corrected',
    file: shared('merge/row.ts'),
    find: 'const stands = incomingWins || (winner.deleted === null && conflicts.length === 0);',
    replace: 'const stands = incomingWins || conflicts.length === 0;',
  },
  {
    name: 'NULL looked for only in the first column of a composite foreign key',
    file: server('merge/foreign-keys.ts'),
    find: "const notNull = childColumns.map((column) => `${column} IS NOT NULL`).join(' AND ');",
    replace: "const notNull = childColumns.slice(0, 1).map((column) => `${column} IS NOT NULL`).join(' AND ');",
  },
  {
    name: "a stamp of the log taken in place of the site's highest",
    file: server('admission/admit-changeset.ts'),
    find: 'lastOfSiteUs: Math.max(site.lastStampUs,',
    replace: 'lastOfSiteUs: Math.max(file.log.maxStampUsAt(file.log.watermark),',
  },
  {
    name: 'a local database is opened for another server database',
    file: client('database/require-database.ts'),
    find: 'belongsTo !== null && belongsTo !== databaseId)',
    replace: "belongsTo !== null && belongsTo === '')",
  },
  {
    name: 'a re-created database is mistaken for the old one restored',
    file: server('database/require-same-database.ts'),
    find: 'if (Buffer.compare(databaseIdentity, identityOf(sql)) === 0) return;',
    replace: 'return;',
    without: [
      {
        file: client('sync/sync-database.ts'),
        find: '!cellValuesEqual(known, identity)',
        replace: 'known.length === 0',
      },
    ],
  },
  {
    name: 'a push is sent before the flush',
    file: client('sync/outgoing-pushes.ts'),
    find: 'source.flush();\n        if (!send(batch)) break;',
    replace: 'if (!send(batch)) break;\n        source.flush();',
  },
  {
    name: 'a flush of the log leaves out the segment that is sealed',
    file: 'packages/vfs-opfs/src/log/log-writer.ts',
    find: 'this.flushSegment(0);\n    this.flushSegment(1);',
    replace: 'this.flushSegment(0);',
  },
  {
    name: 'the server deletes children under every delete rule',
    file: server('merge/cascade.ts'),
    find: "if (check.rule !== 'cascade') continue;",
    replace: '',
  },
  {
    name: 'a reference to a deleted parent is forgotten',
    file: server('merge/null-references.ts'),
    find: 'after: { ...known, nulled },',
    replace:
      'after: { ...known, row: { ...known.row, cells: new Map([...known.row.cells, ...[...nulled].map(([id, by]) => [id, { value: null, version: by }] as const)]) } },',
  },
  {
    name: 'a reference does not keep its parent',
    file: server('merge/restore-parents.ts'),
    find: 'rows.set(name, kept);',
    replace: 'if (known !== undefined) rows.set(name, kept);',
  },
  {
    name: 'outcomes are repeated with each delivery, and their confirmation is refused',
    file: server('fanout/deliveries.ts'),
    find: 'subscription.lastAckedSequence = lastAckedSequence;',
    replace: '',
  },
  {
    name: 'a delete leaves no trace of what it had not seen',
    file: shared('merge/row.ts'),
    find: 'const unseenCells = [...stored.cells].filter(([columnId, cell]) => !hasSeenCell(change, columnId, cell));',
    replace: 'const unseenCells: [number, Cell][] = [];',
  },
  {
    name: 'the database file is not flushed before its log is used again',
    file: 'packages/vfs-opfs/src/log/wal-checkpoint.ts',
    find: 'database.flush();',
    replace: '',
  },
  {
    name: 'a commit is decided on the state before the commits of another instance',
    file: server('store/postgres/postgres-database.ts'),
    find: 'await this.follow(connection, stored); decision = decideAgain();',
    replace: 'await this.follow(connection, stored);',
    needs: 'several instances',
  },
  {
    name: 'a commit does not wait for the one under way',
    file: server('store/postgres/postgres-database.ts'),
    find: "const stored = await this.storedPosition(connection, 'FOR UPDATE'); if (stored.isLeased) return { commit: false, result: 'leased' };",
    replace:
      "const stored = await this.storedPosition(connection, ''); if (stored.isLeased) return { commit: false, result: 'leased' };",
    needs: 'several instances',
  },
  {
    name: 'a session stays after a copy of its file has written at another instance',
    file: server('database/live-database.ts'),
    find: "for (const { subscriber } of this.sessions.ofSite(site)) subscriber.fail(new RockpoolError('session-replaced'));",
    replace: '',
    needs: 'several instances',
  },
  {
    name: 'a session stays in a log epoch that another instance has ended',
    file: server('fanout/fan-out.ts'),
    find: 'this.endOlderEpochs(); this.endBehindHorizon();',
    replace: 'this.endBehindHorizon();',
    needs: 'several instances',
  },
  {
    name: 'the history of a deleted row forgets a value',
    file: server('history/record-history.ts'),
    find: "return { kind: 'delete', ...chain, replaced };",
    replace: "return { kind: 'delete', ...chain, replaced: new Map([...replaced].slice(1)) };",
    needs: 'history',
  },
  {
    name: 'a past state has rows that were inserted later',
    file: server('history/version-walk.ts'),
    find: "if (older === null ? !this.isThereNow : older.kind === 'insert') return null;",
    replace: 'if (older === null && !this.isThereNow) return null;',
    needs: 'history',
  },
  {
    name: 'a restore takes the values before a transaction for those after it',
    file: 'packages/client/src/restore/restore-plan.ts',
    find: 'base: imageOf(after), ours: imageOf(before) }',
    replace: 'base: (void after, imageOf(before)), ours: imageOf(before) }',
    needs: 'history',
  },
  {
    name: 'a branch begins one transaction too early',
    file: 'packages/client/src/branch/changed-rows.ts',
    find: "'SELECT body, before FROM rockpool_changelog WHERE sequence > ? ORDER BY sequence'",
    replace: "'SELECT body, before FROM rockpool_changelog WHERE sequence >= ? ORDER BY sequence'",
    needs: 'history',
  },
  {
    name: 'a counter of a branch replaces that of its origin',
    file: 'packages/client/src/branch/plan-merge.ts',
    find: 'const sum = current + to - from;',
    replace: 'const sum = to; void [current, from];',
    needs: 'history',
  },
  {
    name: 'a working copy follows a restored database by its number alone',
    file: server('store/postgres/postgres-database.ts'),
    find: 'return Buffer.compare(a.commitId, b.commitId) === 0;',
    replace: 'return Buffer.compare(a.commitId, b.commitId) === 0 || true;',
    needs: 'several instances',
  },
  {
    name: 'an instance does not poll after a lost notice',
    file: server('store/postgres/postgres-store.ts'),
    find: 'if (now === undefined || !isSamePosition(now, position)) this.catchUp(database);',
    replace: 'void [now, isSamePosition];',
    needs: 'several instances',
  },
  {
    name: 'a session joins before its instance has caught up',
    file: server('session/session.ts'),
    find: 'await database.catchUp();',
    replace: '',
    needs: 'several instances',
  },
  {
    name: 'an updated app counts as having seen columns that it did not have',
    file: client('write/write-transaction.ts'),
    find: 'findCellBases(connection, changes.groups, readUnseenColumns(meta));',
    replace: 'findCellBases(connection, changes.groups, new Map()); void readUnseenColumns;',
    needs: 'older apps',
  },
  {
    name: 'an updated app does not fetch what it lacked',
    file: client('database/install-schema.ts'),
    find: "meta.set('wants_whole', 1); addUnseenColumns(meta, stored, target);",
    replace: 'addUnseenColumns(meta, stored, target);',
    needs: 'older apps',
  },
  {
    name: 'a server that stops begins sessions',
    file: server('session/accept-sockets.ts'),
    find: "if (this.isClosed) throw new RockpoolError('database-unavailable', { problem: 'the server is stopping' });",
    replace: '',
    without: UNSERVED_SESSIONS_END,
    needs: 'an operator',
  },
  {
    name: 'a database that an operator closes keeps its sessions',
    file: server('database/live-database.ts'),
    find: 'this.sessions.failAll(error);',
    replace: '',
    without: UNSERVED_SESSIONS_END,
    needs: 'an operator',
  },
  {
    name: 'an idle database is closed while a session joins',
    file: server('database/live-database.ts'),
    find: 'this.reading === 0 &&',
    replace: '',
    without: UNSERVED_SESSIONS_END,
    needs: 'an operator',
  },
  {
    name: 'frames whose response was lost are not sent again',
    file: server('session/http-sessions.ts'),
    find: 'drop(polled, received === null ? polled.sentCount : received - polled.receivedCount);',
    replace: 'drop(polled, polled.sentCount); void received;',
    needs: 'an operator',
  },
  {
    name: 'presence stays when its session ends',
    file: server('database/live-database.ts'),
    find: 'this.presence.leave(subscriber);',
    replace: '',
    needs: 'an operator',
  },
  {
    name: 'a withdrawn changeset is sent again by the new site',
    file: client('changelog/renumber.ts'),
    find: 'let lowest = lowestSequence(connection);',
    replace:
      "let lowest = lowestSequence(connection); connection.run('DELETE FROM rockpool_parked WHERE code = ? AND sequence > 0', WITHDRAWN);",
    needs: 'withdrawals',
  },
  {
    name: 'a new site does not name the earlier one',
    file: client('changelog/move-earlier-sites.ts'),
    find: 'if (last !== null)',
    replace: 'if (last !== null && earlier.length < 0)',
    needs: 'withdrawals',
  },
];
