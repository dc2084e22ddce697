// The order of the folders of each package: a file may import files of its own folder and of lower layers, which are
// listed before its own. Type imports count too: a folder that needs a type from a higher layer cannot be read, tested
// or moved without that layer.

/**
 * From the bottom up. Each line is one layer: folders, and files by name, which may not import each other. `.`
 * stands for the files of the package's root.
 *
 * @type {Readonly<Record<string, readonly (readonly string[])[]>>}
 */
export const LAYERS = {
  'packages/sync-server/src': [
    ['sqlite', 'postgres', 'observe'],
    ['bus', 'log'],
    ['auth', 'documents'],
    ['store'],
    ['backup'],
    ['merge'],
    ['conflict-log', 'history', 'pull', 'audit', 'presence', 'snapshot'],
    ['admission', 'fanout'],
    ['database'],
    ['backend', 'session', 'cli', 'threads'],
    ['routes'],
    ['admin'],
    // The public interface, which `assembly` implements with the lower layers.
    ['sync-server.ts'],
    ['assembly'],
    ['.'],
  ],
  'packages/client/src': [
    ['rpc', 'load-part.ts', 'new-id.ts', 'search-text.ts'],
    // The page: the public interface first, which all of it implements or uses.
    ['interface', 'schema'],
    ['client.ts'],
    ['live-query-inspection.ts'],
    ['tab', 'react', 'drizzle', 'devtools'],
    ['document', 'history'],
    ['branch'],
    ['restore'],
    ['.'],
    // The worker.
    ['worker/sqlite'],
    ['worker/file', 'worker/capture'],
    ['worker/documents', 'worker/invalidate'],
    ['worker/leader', 'worker/changelog'],
    ['worker/search', 'worker/live', 'worker/presence'],
    ['worker/apply'],
    ['worker/write'],
    ['worker/database'],
    ['worker/storage', 'worker/audit'],
    ['worker/sync'],
    ['worker/first-sync', 'worker/warm-up'],
    ['worker'],
    ['node'],
  ],
};
