import type { Reads } from '../rpc/reads.ts';
import type { Link } from './link.ts';

/** Reads by asking the leader, where only one tab may open the files. */
export function remoteReads(link: Link): Reads {
  return {
    query: (statement) => link.ask({ kind: 'read', method: 'query', args: [statement] }) as ReturnType<Reads['query']>,
    queryAll: (statements) => link.ask({ kind: 'read', method: 'queryAll', args: [statements] }) as ReturnType<Reads['queryAll']>,
    dependencies: (statement) => link.ask({ kind: 'read', method: 'dependencies', args: [statement] }) as ReturnType<Reads['dependencies']>,
    whereIs: (tableName, key) => link.ask({ kind: 'read', method: 'whereIs', args: [tableName, key] }) as ReturnType<Reads['whereIs']>,
    writeFates: (requestIds) => link.ask({ kind: 'read', method: 'writeFates', args: [requestIds] }) as ReturnType<Reads['writeFates']>,
    backup: () => link.ask({ kind: 'read', method: 'backup', args: [] }) as ReturnType<Reads['backup']>,
    listParked: () => link.ask({ kind: 'read', method: 'listParked', args: [] }) as ReturnType<Reads['listParked']>,
  };
}
