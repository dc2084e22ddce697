// How long test files take, for the order in which they run. A run ends soonest if the longest files start first and
// every process has about the same amount of work.

/**
 * Seconds of processor time of the files that take longer than is usual for their suite. `npm run verify` prints the
 * slowest files.
 *
 * @type {Readonly<Record<string, number>>}
 */
export const heavyFiles = {
  'tests/simulation/simulation.test.ts': 120,
  'packages/client/src/media.browser.test.ts': 24,
  'packages/client/src/binding.browser.test.ts': 12,
  'packages/vfs-opfs/src/media/media.browser.test.ts': 9,
  'tests/first-app/first-app.test.ts': 9,
  'tests/admin-page/admin-page.test.ts': 8,
  'packages/sync-server/src/store/postgres/postgres-store.test.ts': 7,
  'packages/sync-server/src/store/postgres/move-database.test.ts': 7,
  'packages/sync-server/src/threads/database-threads.test.ts': 6,
  'packages/client/src/databases.browser.test.ts': 6,
  'packages/sync-server/src/several-instances.test.ts': 6,
  'tests/branches/branch.test.ts': 5,
  'tests/first-sync/full-resync.test.ts': 5,
  'packages/sync-server/src/documents/documents.test.ts': 5,
  'packages/sync-server/src/backup/continuous-backup.test.ts': 5,
  'packages/sync-server/src/admin/lifecycle.test.ts': 5,
  'packages/sync-server/src/store/postgres/sharded-store.test.ts': 5,
  'packages/client/src/results.browser.test.ts': 4,
  'packages/client/src/transaction.browser.test.ts': 4,
  'packages/client/src/drizzle/drizzle.browser.test.ts': 4,
  'packages/vfs-opfs/src/media/opfs-exclusive.browser.test.ts': 4,
  'packages/client/src/migrations.browser.test.ts': 4,
  'packages/client/src/presence.browser.test.ts': 4,
  'packages/client/src/react.browser.test.tsx': 4,
  'packages/vfs-opfs/src/storage.browser.test.ts': 4,
  'packages/sync-server/src/session/hostile-clients.test.ts': 4,
  'packages/sync-server/src/documents/document-pool.test.ts': 4,
  'packages/sync-server/src/store/postgres/commit-order.test.ts': 4,
  'packages/vfs-opfs/src/media/media.test.ts': 3,
  'packages/client/src/worker/sqlite/encode-rows.test.ts': 3,
  'tests/node-client/contract.test.ts': 3,
  'packages/client/src/worker/sqlite/scan.property.test.ts': 3,
  'packages/sync-server/src/history/past-state.test.ts': 3,
  'packages/sync-server/src/store/damaged-file.test.ts': 3,
  'packages/sync-server/src/backup/maintenance.test.ts': 3,
  'tests/bundlers/vite.test.ts': 3,
  'packages/sync-server/src/auth/auth-matrix.test.ts': 3,
  'tests/transport/transports.test.ts': 3,
  'tests/documents/backlog.test.ts': 3,
  'packages/sync-server/src/session/http-sessions.test.ts': 3,
  'tests/chaos/tabs.browser.test.ts': 3,
  'packages/client/src/tabs.browser.test.ts': 3,
  'packages/client/src/tabs.verify.browser.test.ts': 3,
  'packages/client/src/corrupt-database.browser.test.ts': 3,
  'packages/sync-server/src/store/postgres/delete-database.test.ts': 3,
  'packages/sync-server/src/cli.test.ts': 3,
  'tests/packages/packages.test.ts': 3,
  'packages/sync-server/src/admin/admin-access.test.ts': 2,
  'packages/vfs-opfs/src/files/import-crash.test.ts': 2,
  'packages/vfs-opfs/src/readers-at-every-moment.test.ts': 2,
  'tests/first-sync/first-sync.test.ts': 2,
  'apps/demo-budget/server/concurrent-transfers.test.ts': 2,
  'packages/sync-server/src/backup/cold-databases.test.ts': 2,
  'tests/history/past-state.test.ts': 2,
  'packages/vfs-opfs/src/crash-images.test.ts': 2,
  'packages/shared/src/document/document.property.test.ts': 2,
  'packages/sync-server/src/auth/injection.test.ts': 2,
  'tests/history/version-names.test.ts': 2,
  'packages/client/src/worker/apply/outcome-cost.test.ts': 2,
  'packages/sync-server/src/session/session.test.ts': 2,
  'packages/client/src/worker/database/crash.property.test.ts': 2,
  'packages/sync-server/src/auth/tenants.test.ts': 2,
  'packages/sync-server/src/auth/members.test.ts': 2,
  'tests/documents/convergence.property.test.ts': 2,
  'tests/branches/dependent-rows.test.ts': 2,
  'packages/client/src/worker/sync/hostile-server.property.test.ts': 2,
  'packages/vfs-opfs/src/extents/extent-store.test.ts': 2,
  'tests/simulation/postgres/postgres-model.test.ts': 2,
  'tests/first-sync/faulty-route.test.ts': 2,
  'packages/vfs-opfs/src/faults.test.ts': 2,
  'packages/sync-server/src/documents/growth.test.ts': 2,
  'tests/documents/file-size.test.ts': 2,
  'packages/sync-server/src/session/ended-sessions.test.ts': 2,
  'packages/sync-server/src/cli/postgres.test.ts': 2,
  'tests/merge/unique-rename.test.ts': 2,
  'packages/sync-server/src/auth/role-cache.test.ts': 2,
  'packages/sync-server/src/auth/postgres-members.test.ts': 2,
  'packages/sync-server/src/bus/postgres-bus.test.ts': 2,
  'packages/sync-server/src/store/postgres/prepare-schema.test.ts': 2,
  'packages/sync-server/src/store/postgres/killed-instances.test.ts': 2,
  'packages/sync-server/src/log/killed-server.test.ts': 2,
  'packages/sync-server/src/auth/host-rules.test.ts': 2,
  'packages/sync-server/src/merge/cascade.property.test.ts': 1,
  'packages/sync-server/src/store/postgres/killed-postgres.test.ts': 1,
  'packages/sync-server/src/merge/null-references.property.test.ts': 1,
  'packages/sync-server/src/merge/restore-parents.property.test.ts': 1,
  'tests/history/restore-as-write.test.ts': 1,
  'tests/node-client/binding.test.ts': 1,
  'apps/demo-budget/server/people-routes.test.ts': 1,
  'packages/sync-server/src/cli/restore-backup.test.ts': 1,
  'tests/node-client/other-user.test.ts': 1,
  'tests/node-client/transports.test.ts': 1,
  'packages/sync-server/src/observe/tracing.test.ts': 1,
  'packages/sync-server/src/cli/administration.test.ts': 1,
  'packages/sync-server/src/backup/copied-history.property.test.ts': 1,
  'tests/divergence/statements.test.ts': 1,
  'packages/sync-server/src/fanout/convergence.property.test.ts': 1,
  'packages/sync-server/src/database/slow-disk.test.ts': 1,
  'tests/history/document-history.test.ts': 1,
  'packages/sync-server/src/backup/listed-backups.test.ts': 1,
  'packages/vfs-opfs/src/lock-protocol.test.ts': 1,
  'tests/history/restore-plan.test.ts': 1,
  'packages/sync-server/src/admission/repeated.property.test.ts': 1,
  'packages/client/src/worker/documents/document-storage.property.test.ts': 1,
  'packages/shared/src/change/changeset-codec.property.test.ts': 1,
  'packages/sync-server/src/snapshot/snapshot.test.ts': 1,
  'packages/sync-server/src/merge/cascade.test.ts': 1,
  'packages/sync-server/src/cli/remote-databases.test.ts': 1,
  'tests/node-client/copied-device.test.ts': 1,
  'packages/shared/src/document/carry-over.property.test.ts': 1,
  'tests/documents/binary-edges.test.ts': 1,
  'packages/shared/src/document/damaged-edits.property.test.ts': 1,
  'packages/shared/src/document/text-diff.property.test.ts': 1,
  'packages/sync-server/src/bus/nats-bus.test.ts': 1,
  'packages/sync-server/src/log/tombstones.test.ts': 1,
  'tests/http/http-connection.test.ts': 1,
  'tests/branches/changed-rows.test.ts': 1,
  'packages/shared/src/document/write-json.property.test.ts': 1,
  'packages/sync-server/src/threads/database-thread.test.ts': 1,
  'packages/vfs-opfs/src/writer-store.property.test.ts': 1,
  'tests/history/row-history.test.ts': 1,
  'packages/shared/src/audit/table-fingerprint.property.test.ts': 1,
  'packages/sync-server/src/pull/encode-parts.property.test.ts': 1,
  'tests/health/audit.test.ts': 1,
  'packages/client/src/rpc/rows-transfer.property.test.ts': 1,
  'tests/history/later-column.test.ts': 1,
  'tests/merge/values.test.ts': 1,
  'packages/client/src/search-text.property.test.ts': 1,
  'packages/client/src/open-client.test.ts': 1,
  'packages/client/src/worker/search/search-indexes.property.test.ts': 1,
  'packages/sync-server/src/history/written-rows.property.test.ts': 1,
  'packages/sync-server/src/admission/admission.test.ts': 1,
  'packages/sync-server/src/store/postgres/stored-change.property.test.ts': 1,
  'tests/documents/typing.test.ts': 1,
  'packages/client/src/worker/storage/databases.test.ts': 1,
  'packages/sync-server/src/merge/null-references.test.ts': 1,
  'packages/sync-server/src/admission/changeset-memory.test.ts': 1,
  'tests/merge/column-values.test.ts': 1,
  'packages/sync-server/src/database/restored-log.test.ts': 1,
};

const usualSeconds = { chromium: 1, node: 0.2 };

/** @param {string} file relative to the root */
export function weightOf(file) {
  return heavyFiles[file] ?? (file.includes('.browser.test.') ? usualSeconds.chromium : usualSeconds.node);
}

/**
 * Files share a process up to this many seconds. What they leave in memory makes garbage collection slower, but another
 * process takes two seconds to start and to evaluate the same imports.
 */
const mostSeconds = 20;

/**
 * Whether a process may run another file.
 *
 * @param {number} seconds of the files that it has run
 * @param {string} file relative to the root
 */
export function hasTimeFor(seconds, file) {
  return seconds + weightOf(file) <= mostSeconds;
}

/**
 * @param {string} a
 * @param {string} b
 */
export function longestFirst(a, b) {
  return weightOf(b) - weightOf(a);
}

/**
 * Distributes files over processes so that all processes take about equally long.
 *
 * @param {readonly string[]} files
 * @param {number} most
 * @returns {string[][]} without empty ones
 */
export function dealOut(files, most) {
  const shards = Array.from({ length: Math.min(most, files.length) }, () => ({
    seconds: 0,
    files: /** @type {string[]} */ ([]),
  }));
  for (const file of [...files].sort(longestFirst)) {
    const least = shards.reduce((one, other) => (other.seconds < one.seconds ? other : one));
    least.seconds += weightOf(file);
    least.files.push(file);
  }
  return shards.map((shard) => shard.files);
}
