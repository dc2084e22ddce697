import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { encodeSchema } from '../../packages/shared/src/index.ts';
import { issueToken } from '../../packages/sync-server/src/auth/jwt.ts';
import { TestConnection, type TestSite } from '../../packages/sync-server/testing/test-client.ts';
import { TEST_SCHEMA } from '../../packages/sync-server/testing/test-schema.ts';

const BIN = join(import.meta.dirname, '../../packages/sync-server/bin/rockpool-server.mjs');
const SECRET = 'a secret of the benchmark, long enough';
/** CPU time in /proc is in ticks of 10 ms. */
const MS_PER_TICK = 10;

export function tokenOf(databaseId: string): Promise<string> {
  return issueToken(
    new TextEncoder().encode(SECRET),
    { principal: `user-of-${databaseId}`, databases: [databaseId], role: 'editor', ttlMs: 3_600_000 },
    Date.now(),
  );
}

/**
 * The interval of real clients. The server ends sessions that are silent for 40 s, such as those that wait for a frozen
 * server.
 */
const PING_INTERVAL_MS = 10_000;
const RETRY_MS = 1_000;

/** Opens a connection that has received the welcome and the first delivery, and stays in use. */
export async function openConnection(port: number, databaseId: string, site?: TestSite): Promise<TestConnection> {
  const connection = await TestConnection.connect(`ws://127.0.0.1:${port}/sync`, site);
  await connection.open(await tokenOf(databaseId), databaseId);
  const pings = setInterval(() => connection.keepAlive(), PING_INTERVAL_MS).unref();
  connection.socketForAbuse.once('close', () => clearInterval(pings));
  return connection;
}

/** Tries again after a second or less, like a client that the server has refused or disconnected. */
export async function openAgain(port: number, databaseId: string, site: TestSite): Promise<TestConnection> {
  for (;;) {
    try {
      return await openConnection(port, databaseId, site);
    } catch {
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS * Math.random()));
    }
  }
}

/** A server in its own process, which can be killed and started again on its files. */
export class MeasuredServer {
  port = 0;
  private readonly folder = mkdtempSync(join(tmpdir(), 'rockpool-bench-server-'));
  private readonly threads: number;
  private child: ChildProcess | null = null;

  constructor(threads: number) {
    this.threads = threads;
    writeFileSync(join(this.folder, 'schema.json'), encodeSchema(TEST_SCHEMA));
    writeFileSync(join(this.folder, 'secret'), SECRET);
  }

  async start(): Promise<void> {
    const flags: Readonly<Record<string, string>> = {
      data: join(this.folder, 'data'),
      schema: join(this.folder, 'schema.json'),
      'secret-file': join(this.folder, 'secret'),
      port: '0',
      threads: String(this.threads),
    };
    const args = Object.entries(flags).flatMap(([name, value]) => [`--${name}`, value]);
    const child = spawn(process.execPath, [BIN, 'serve', ...args], { stdio: ['ignore', 'pipe', 'ignore'] });
    this.child = child;
    this.port = await new Promise<number>((resolve, reject) => {
      child.stdout.on('data', (chunk: Buffer) => {
        const [, port] = /listening on \S+:(\d+)/.exec(chunk.toString()) ?? [];
        if (port !== undefined) resolve(Number(port));
      });
      child.once('close', (code) => reject(new Error(`the server exited with code ${code}`)));
    });
  }

  residentBytes(): number {
    const [, kilobytes = '0'] = /VmRSS:\s+(\d+)/.exec(this.proc('status')) ?? [];
    return Number(kilobytes) * 1024;
  }

  /** The peak of resident memory since the last call. */
  peakBytes(): number {
    const [, kilobytes = '0'] = /VmHWM:\s+(\d+)/.exec(this.proc('status')) ?? [];
    writeFileSync(`/proc/${this.child?.pid}/clear_refs`, '5');
    return Number(kilobytes) * 1024;
  }

  cpuMs(): number {
    const [user = 0, system = 0] = (this.proc('stat').split(') ')[1] ?? '').split(' ').slice(11, 13).map(Number);
    return (user + system) * MS_PER_TICK;
  }

  async kill(): Promise<void> {
    const { child } = this;
    const ended = new Promise((resolve) => child?.once('close', resolve));
    child?.kill('SIGKILL');
    await ended;
  }

  async remove(): Promise<void> {
    await this.kill();
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 5 });
  }

  private proc(name: string): string {
    return readFileSync(`/proc/${this.child?.pid}/${name}`, 'utf8');
  }
}
