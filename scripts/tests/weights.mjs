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
  'packages/client/src/media.browser.test.ts': 50,
  'packages/vfs-opfs/src/media/media.browser.test.ts': 26,
  'packages/client/src/binding.browser.test.ts': 14,
  'tests/chaos/tabs.browser.test.ts': 13,
  'packages/sync-server/src/threads/database-threads.test.ts': 10,
  'tests/node-client/contract.test.ts': 8,
  'packages/sync-server/src/admin/lifecycle.test.ts': 8,
  'packages/client/src/databases.browser.test.ts': 7,
  'tests/first-sync/full-resync.test.ts': 7,
  'tests/admin-page/admin-page.test.ts': 7,
  'packages/client/src/tabs.browser.test.ts': 6,
  'packages/sync-server/src/auth/auth-matrix.test.ts': 6,
  'packages/sync-server/src/admin/admin-access.test.ts': 6,
  'tests/documents/convergence.property.test.ts': 5,
  'packages/client/src/tab/tab-worker.browser.test.ts': 5,
  'packages/client/src/results.browser.test.ts': 4,
  'packages/client/src/transaction.browser.test.ts': 4,
  'packages/client/src/drizzle/drizzle.browser.test.ts': 4,
  'packages/vfs-opfs/src/media/opfs-exclusive.browser.test.ts': 4,
  'packages/client/src/migrations.browser.test.ts': 4,
  'packages/client/src/presence.browser.test.ts': 4,
  'packages/client/src/react.browser.test.tsx': 4,
  'packages/vfs-opfs/src/storage.browser.test.ts': 4,
  'packages/sync-server/src/documents/document-pool.test.ts': 4,
  'tests/branches/branch.test.ts': 4,
  'tests/first-app/first-app.test.ts': 3,
  'packages/vfs-opfs/src/crash-images.test.ts': 3,
  'packages/sync-server/src/documents/documents.test.ts': 3,
  'packages/vfs-opfs/src/faults.test.ts': 3,
  'packages/sync-server/src/auth/tenants.test.ts': 3,
  'tests/documents/backlog.test.ts': 3,
  'packages/sync-server/src/auth/injection.test.ts': 3,
  'packages/sync-server/src/documents/growth.test.ts': 3,
  'packages/vfs-opfs/src/media/media.test.ts': 3,
  'packages/sync-server/src/session/hostile-clients.test.ts': 3,
  'packages/vfs-opfs/src/extents/extent-pages.property.test.ts': 3,
  'packages/client/src/worker/apply/outcome-cost.test.ts': 3,
  'packages/sync-server/src/store/postgres/tenants.test.ts': 3,
  'packages/vfs-opfs/src/readers-at-every-moment.test.ts': 3,
  'packages/sync-server/src/several-instances.test.ts': 3,
  'tests/history/past-state.test.ts': 3,
  'packages/sync-server/src/admin/inspection.test.ts': 3,
  'packages/sync-server/src/cli/remote-databases.test.ts': 3,
  'packages/sync-server/src/merge/cascade.test.ts': 3,
  'packages/client/src/worker/database/crash.property.test.ts': 3,
  'tests/bundlers/vite.test.ts': 2,
  'tests/merge/unique-rename.test.ts': 2,
  'tests/node-client/binding.test.ts': 2,
  'tests/first-sync/faulty-route.test.ts': 2,
  'packages/shared/src/document/document.property.test.ts': 2,
  'packages/vfs-opfs/src/extents/extent-store.test.ts': 2,
  'tests/health/audit.test.ts': 2,
  'tests/merge/values.test.ts': 2,
  'packages/sync-server/src/session/fuzz.test.ts': 2,
  'packages/sync-server/src/history/past-state.test.ts': 2,
};

const usualSeconds = { chromium: 1, node: 0.3 };

/** @param {string} file relative to the root */
export function weightOf(file) {
  return heavyFiles[file] ?? (file.includes('.browser.test.') ? usualSeconds.chromium : usualSeconds.node);
}

/**
 * Files share a process up to this many seconds. What they leave in memory makes garbage collection slower, but another
 * process takes a second to start and to evaluate the same imports.
 */
const mostSeconds = 12;

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
