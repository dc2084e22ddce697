import type { Reads } from '../../rpc/reads.ts';
import type { LeaderLink } from './leader-link.ts';

/** Reads through the leader, for media where only one tab may open the files. */
export function remoteReads(link: LeaderLink): Reads {
  return {
    query: (statement) => link.ask({ kind: 'read', method: 'query', args: [statement] }) as ReturnType<Reads['query']>,
    queryAll: (statements) =>
      link.ask({ kind: 'read', method: 'queryAll', args: [statements] }) as ReturnType<Reads['queryAll']>,
    dependencies: (statement) =>
      link.ask({ kind: 'read', method: 'dependencies', args: [statement] }) as ReturnType<Reads['dependencies']>,
    rowSyncState: (tableName, key) =>
      link.ask({ kind: 'read', method: 'rowSyncState', args: [tableName, key] }) as ReturnType<Reads['rowSyncState']>,
    writeStates: (requestIds) =>
      link.ask({ kind: 'read', method: 'writeStates', args: [requestIds] }) as ReturnType<Reads['writeStates']>,
    backup: () => link.ask({ kind: 'read', method: 'backup', args: [] }) as ReturnType<Reads['backup']>,
    listRejected: () =>
      link.ask({ kind: 'read', method: 'listRejected', args: [] }) as ReturnType<Reads['listRejected']>,
  };
}
