import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import { temporaryFolder } from '../../../tests/kit/temporary-folder.ts';
import { insert } from './changeset.ts';
import type { PostgresAccess } from './postgres-access.ts';
import { createShards, listOf, startInstance, type TestShard } from './shards-under-test.ts';
import { TestSite, type TestConnection } from './test-client.ts';
import { DATABASE, type TestServer } from './test-server.ts';

const BIN = fileURLToPath(new URL('../bin/rockpool-server.mjs', import.meta.url));

const IN_FLIGHT = 5;

/** The steps that the command prints. A kill may follow each of them. */
const STEPS = ['moving', 'copied', 'followed', 'froze', 'switched', 'activated'];

/** Runs the command, and kills it once it has printed the step. Resolves with the output. */
function move(folder: string, to: string, killAfter: string | null): Promise<{ code: number | null; output: string }> {
  const child = spawn(process.execPath, [BIN, 'move', DATABASE, '--to', to, '--shards', join(folder, 'shards.json')], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  const read = (chunk: Buffer): void => {
    output += chunk.toString();
    if (killAfter !== null && output.includes(killAfter)) child.kill('SIGKILL');
  };
  child.stdout.on('data', read);
  child.stderr.on('data', read);
  return new Promise((resolve) => void child.once('close', (code) => resolve({ code, output })));
}

/** A client that stays with one instance, and returns to it whenever its session ends. */
abstract class Client {
  readonly site: TestSite = new TestSite();
  /** Codes of the failures that ended its sessions. */
  readonly failures = new Set<unknown>();
  private readonly server: TestServer;
  private identity: Uint8Array | null = null;
  private logEpoch: Uint8Array | null = null;

  constructor(server: TestServer) {
    this.server = server;
  }

  protected abstract isDone(): boolean;
  protected abstract send(connection: TestConnection): void;

  async run(): Promise<void> {
    while (!this.isDone()) {
      const connection = await this.server.connect(this.site);
      try {
        const { welcome } = await connection.open(await this.server.token(), DATABASE);
        // Checks that the database is the same one, with the same log.
        this.identity ??= welcome.databaseIdentity;
        this.logEpoch ??= welcome.logEpoch;
        expect([welcome.databaseIdentity, welcome.logEpoch]).toEqual([this.identity, this.logEpoch]);
        while (!this.isDone()) {
          this.send(connection);
          await connection.delivery();
          connection.confirm();
        }
      } catch (error) {
        const [, failure = ''] = /^expected \w+, got (.*)$/.exec(String((error as Error).message)) ?? [];
        // Anything but the end of a session fails the test.
        if (failure === '') throw error;
        this.failures.add((JSON.parse(failure) as { readonly code?: unknown }).code);
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      await connection.close();
    }
  }
}

class Writer extends Client {
  private readonly name: string;
  private isStopped = false;
  private sent = 0;
  private last: TestConnection | null = null;

  constructor(server: TestServer, name: string) {
    super(server);
    this.name = name;
  }

  /** Stops writing. The client ends once everything is decided. */
  stop(): void {
    this.isStopped = true;
  }

  protected isDone(): boolean {
    return this.isStopped && this.site.lastAckedSequence === this.site.changelog.length;
  }

  protected send(connection: TestConnection): void {
    const { site, name } = this;
    const isNew = connection !== this.last;
    this.last = connection;
    if (isNew) this.sent = site.lastAckedSequence;
    while (!this.isStopped && site.changelog.length < site.lastAckedSequence + IN_FLIGHT)
      site.write([insert('entries', `${name}${site.changelog.length + 1}`, { amount: 1n })], { base: 0 });
    if (this.sent < site.changelog.length) connection.push(this.sent + 1);
    this.sent = site.changelog.length;
  }
}

class Reader extends Client {
  private readonly until: () => number;

  constructor(server: TestServer, until: () => number) {
    super(server);
    this.until = until;
  }

  protected isDone(): boolean {
    return this.site.cursor >= this.until();
  }

  protected send(): void {}
}

/**
 * Moves a database back and forth between two servers while two clients write through two instances and a third one
 * reads. Kills the command once in the middle of each move, at a different step each time, and runs it again. Checks
 * that in the end each changeset is stored exactly once, at one server, and that the reader got everything in order.
 */
export async function checkKilledMoves(postgres: PostgresAccess, kills: number): Promise<void> {
  const shards = (await createShards(postgres, [1, 0])) as [TestShard, TestShard];
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'shards.json'), JSON.stringify(listOf(shards)));
  const instances = [await startInstance(shards), await startInstance(shards)] as const;
  const writers = [new Writer(instances[0], 'x'), new Writer(instances[1], 'y')];
  const total = (): number => writers.reduce((sum, { site }) => sum + site.changelog.length, 0);
  let isOver = false;
  const reader = new Reader(instances[1], () => (isOver ? total() : Infinity));
  const running = [...writers, reader].map((client) => client.run());
  const watch = Promise.all(running);
  const acknowledged = async (count: number): Promise<void> => {
    while (writers.some(({ site }) => site.lastAckedSequence < count))
      await Promise.race([watch, new Promise((resolve) => setTimeout(resolve, 20))]);
  };
  for (let kill = 0; kill < kills; kill++) {
    await acknowledged(20 * (kill + 1));
    const to = (kill % 2 === 0 ? shards[1] : shards[0]).name;
    const step = STEPS[(kill * 5 + 3) % STEPS.length] as string;
    const killed = await move(folder, to, step);
    expect(killed.output).toContain(step);
    const again = await move(folder, to, null);
    expect(again, again.output).toMatchObject({ code: 0 });
  }
  await acknowledged(20 * (kills + 1));
  for (const writer of writers) writer.stop();
  await Promise.all(running.slice(0, 2));
  // A last commit wakes the reader, which may have received the last delivery already.
  isOver = true;
  const last = new TestSite();
  const connection = await instances[0].open(last);
  await connection.commit([insert('accounts', 'last', { name: 'last' })]);
  await connection.close();
  await running[2];
  const at = (kills % 2 === 0 ? shards[0] : shards[1]).database;
  const left = (kills % 2 === 0 ? shards[1] : shards[0]).database;
  expect(await postgres.query(at, 'SELECT count(*)::int, sum(amount)::int FROM rockpool.entries')).toEqual([
    [total(), total()],
  ]);
  expect(
    await postgres.query(
      at,
      'SELECT count(*)::int, count(DISTINCT (site_number, sequence))::int, min(watermark)::int, max(watermark)::int FROM rockpool.rockpool_log',
    ),
  ).toEqual([[total() + 1, total() + 1, 1, total() + 1]]);
  for (const table of ['entries', 'rockpool_log', 'rockpool_commit', 'rockpool_meta'])
    expect(await postgres.query(left, `SELECT count(*)::int FROM rockpool.${table}`)).toEqual([[0]]);
  for (const client of [...writers, reader])
    for (const code of client.failures) expect(code).toBe('database-unavailable');
}
