/**
 * The parts of the system that a write passes through. One thread runs all of them in this benchmark; a profile tells
 * them apart by folder.
 */
export type Piece = 'client' | 'server' | 'both';

export interface Step {
  readonly name: string;
  readonly piece: Piece;
  /** Folders and files, relative to the root of the repository, whose code belongs to this step. */
  readonly paths: readonly string[];
}

const CLIENT = 'packages/client/src/';
const WORKER = `${CLIENT}worker/`;
const SERVER = 'packages/sync-server/src/';

/**
 * The steps of one write's path. A function belongs to the step of its folder; code that several steps share, such as
 * the codecs and SQLite, belongs to the step that calls it. The first match wins.
 */
export const STEPS: readonly Step[] = [
  { name: 'page: calls, results, live queries', piece: 'client', paths: [`${CLIENT}tab/`, `${CLIENT}open-client`] },
  { name: 'requests and their records', piece: 'client', paths: [`${WORKER}write/request-log.ts`, `${WORKER}leader`] },
  { name: 'statement, transaction, COMMIT', piece: 'client', paths: [`${WORKER}write/`, `${WORKER}database/`] },
  { name: 'capture', piece: 'client', paths: [`${WORKER}capture/`] },
  { name: 'changelog and outcomes', piece: 'client', paths: [`${WORKER}changelog/`] },
  { name: 'push and receive', piece: 'client', paths: [`${WORKER}sync/`] },
  { name: 'apply', piece: 'client', paths: [`${WORKER}apply/`, `${WORKER}documents/`, `${WORKER}search/`] },
  { name: 'live queries', piece: 'client', paths: [`${WORKER}live/`, `${WORKER}invalidate/`] },
  { name: 'other work of the worker', piece: 'client', paths: [WORKER, CLIENT] },
  { name: 'session', piece: 'server', paths: [`${SERVER}session/`, `${SERVER}auth/`] },
  { name: 'admission', piece: 'server', paths: [`${SERVER}admission/`] },
  { name: 'merge', piece: 'server', paths: [`${SERVER}merge/`, `${SERVER}conflict-log/`] },
  { name: 'log and store', piece: 'server', paths: [`${SERVER}log/`, `${SERVER}store/`, `${SERVER}sqlite/`] },
  { name: 'read and fan out', piece: 'server', paths: [`${SERVER}pull/`, `${SERVER}fanout/`] },
  { name: 'database and the rest', piece: 'server', paths: [SERVER] },
];

/**
 * Code whose caller decides the step: SQLite, storage, the wire format, codecs. It precedes `STEPS`, since a step's
 * folder may contain it.
 */
const SHARED: readonly string[] = [
  `${WORKER}sqlite/`,
  `${WORKER}storage/`,
  `${CLIENT}rpc/`,
  `${CLIENT}schema/`,
  'packages/client/sqlite/',
  'packages/vfs-opfs/',
  'packages/shared/',
];

/** The step of a source file, or null if its caller decides. */
export function stepOf(path: string): Step | null {
  if (SHARED.some((shared) => path.includes(shared))) return null;
  return STEPS.find(({ paths }) => paths.some((one) => path.includes(one))) ?? null;
}
