import { cpSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import type { Client, Schema } from '#client/index.ts';
import { createDevice, type Device } from '#client/node/index.ts';
import { defineSchema } from '#client/schema/index.ts';
import { applyOperations } from '#client/testing/apply-operations.ts';
import { ClientsOfServer } from '#kit/clients-of-server.ts';
import { atLevel } from '#kit/level.ts';
import { temporaryFolder } from '#kit/temporary-folder.ts';
import { Log } from '#sync-server/log/log.ts';
import { integer, sqliteTable, text } from '../../packages/client/node_modules/drizzle-orm/sqlite-core/index.js';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { RecordedMoments } from './recorded-moments.ts';

const DAY_MS = 24 * 3600_000;

const id = { id: text().primaryKey() };
const item = { ...id, amount: integer().notNull(), note: text() };
const page = { ...id, title: text(), content: text() };
const state = text().notNull().default('open');
const TEXTS = { text: ['body'] };

/** Each generation has more columns and tables than the previous one. */
const generations = [oldest(), newer(), newest()] as const;

function oldest(): ReturnType<typeof defineSchema> {
  const items = sqliteTable('item', item);
  const pages = sqliteTable('page', page);
  const documents = [{ column: pages.content, ...TEXTS }];
  return defineSchema(
    { items, pages },
    { history: [{ table: items, retainedDays: 45 }, pages], merge: [{ table: pages, documents }] },
  );
}

function newer(): ReturnType<typeof defineSchema> {
  const items = sqliteTable('item', { ...item, state });
  const pages = sqliteTable('page', { ...page, extra: text() });
  const documents = [pages.content, pages.extra].map((column) => ({ column, ...TEXTS }));
  return defineSchema(
    { items, pages },
    { history: [{ table: items, retainedDays: 45 }, pages], merge: [{ table: pages, documents }] },
  );
}

function newest(): ReturnType<typeof defineSchema> {
  const items = sqliteTable('item', { ...item, state, rank: integer().default(7) });
  const pages = sqliteTable('page', { ...page, extra: text(), kind: text() });
  const labels = sqliteTable('label', { ...id, name: text() });
  const documents = [pages.content, pages.extra].map((column) => ({ column, ...TEXTS }));
  return defineSchema(
    { items, labels, pages },
    { history: [{ table: items, retainedDays: 45 }, labels, pages], merge: [{ table: pages, documents }] },
  );
}

const key = fc.constantFrom('a', 'b');
const words = fc.constantFrom('', 'Mon', 'Monday', 'on Monday we meet', 'we meet on Monday, at noon');
const content = fc
  .record({ body: words, tags: fc.uniqueArray(fc.constantFrom('x', 'y', 'z')), 'a/b~': fc.option(fc.nat(3)) })
  .map((value) => JSON.stringify(value));

/** A statement, and the first generation that knows its columns. */
type Write = readonly [generation: number, sql: string, ...params: (string | number | null)[]];

const write: fc.Arbitrary<Write> = fc.oneof(
  fc
    .tuple(key, fc.nat(9))
    .map(([k, n]): Write => [
      0,
      'INSERT INTO item (id, amount) VALUES (?, ?) ON CONFLICT DO UPDATE SET amount = excluded.amount',
      k,
      n,
    ]),
  fc.tuple(key, words).map(([k, w]): Write => [0, 'UPDATE item SET note = ? WHERE id = ?', w, k]),
  key.map((k): Write => [0, 'DELETE FROM item WHERE id = ?', k]),
  fc
    .tuple(key, content)
    .map(([k, c]): Write => [
      0,
      'INSERT INTO page (id, content) VALUES (?, ?) ON CONFLICT DO UPDATE SET content = excluded.content',
      k,
      c,
    ]),
  fc.tuple(key, content).map(([k, c]): Write => [0, 'UPDATE page SET content = ? WHERE id = ?', c, k]),
  fc.tuple(key, words).map(([k, w]): Write => [0, 'UPDATE page SET title = ? WHERE id = ?', w, k]),
  key.map((k): Write => [0, 'DELETE FROM page WHERE id = ?', k]),
  fc.tuple(key, words).map(([k, w]): Write => [1, 'UPDATE item SET state = ? WHERE id = ?', w, k]),
  fc.tuple(key, content).map(([k, c]): Write => [1, 'UPDATE page SET extra = ? WHERE id = ?', c, k]),
  fc.tuple(key, fc.option(fc.nat(9))).map(([k, n]): Write => [2, 'UPDATE item SET rank = ? WHERE id = ?', n, k]),
  fc
    .tuple(key, words)
    .map(([k, w]): Write => [
      2,
      'INSERT INTO label VALUES (?, ?) ON CONFLICT DO UPDATE SET name = excluded.name',
      k,
      w,
    ]),
);

type Step =
  | { readonly does: 'write'; readonly who: number; readonly write: Write }
  | { readonly does: 'pause' | 'resume' | 'update' | 'restore-row'; readonly who: number }
  | { readonly does: 'migrate' | 'back-up' | 'restore' | 'wait' };

const who = fc.nat(1);
const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    { weight: 20, arbitrary: fc.record({ does: fc.constant('write' as const), who, write }) },
    {
      weight: 6,
      arbitrary: fc.record({ does: fc.constantFrom('pause' as const, 'resume' as const, 'resume' as const), who }),
    },
    { weight: 2, arbitrary: fc.record({ does: fc.constantFrom('update' as const, 'restore-row' as const), who }) },
    {
      weight: 3,
      arbitrary: fc.record({
        does: fc.constantFrom(
          'migrate' as const,
          'migrate' as const,
          'back-up' as const,
          'restore' as const,
          'wait' as const,
          'wait' as const,
          'wait' as const,
        ),
      }),
    },
  ),
  { minLength: 15, maxLength: 45, size: 'max' },
);

interface Person {
  readonly device: Device;
  client: Client;
  generation: number;
}

class World {
  readonly clients: ClientsOfServer = new ClientsOfServer({ schema: generations[0] });
  readonly moments: RecordedMoments = new RecordedMoments();
  private readonly people: Person[] = [];
  private dataDir = temporaryFolder();
  private backup: string | null = null;
  private generation = 0;

  static async start(): Promise<World> {
    const world = new World();
    world.clients.nowMs = Date.now();
    await world.serve();
    for (const device of [createDevice(), createDevice()])
      world.people.push({ device, client: await world.open(device, 0), generation: 0 });
    return world;
  }

  async take(step: Step): Promise<void> {
    switch (step.does) {
      case 'wait':
        // Prunes the tombstones of deleted rows, and the second time also versions of items.
        this.clients.nowMs += 31 * DAY_MS;
        return;
      case 'migrate':
        this.generation = Math.min(this.generation + 1, generations.length - 1);
        return this.restart();
      case 'back-up':
        return this.restart(() => cpSync(this.dataDir, (this.backup = temporaryFolder()), { recursive: true }));
      case 'restore':
        return this.restart(() => {
          if (this.backup !== null) cpSync(this.backup, (this.dataDir = temporaryFolder()), { recursive: true });
        });
    }
    const person = this.people[step.who] as Person;
    const { client } = person;
    if (step.does === 'pause') await client.sync.pause();
    if (step.does === 'resume') await client.sync.resume();
    if (step.does === 'update') {
      await client.close();
      person.generation = this.generation;
      person.client = await this.open(person.device, person.generation);
    }
    if (step.does === 'restore-row') await this.restoreRow(client);
    if (step.does !== 'write') return;
    const [generation, sql, ...params] = step.write;
    if (generation > person.generation) return;
    const written = client.execute(sql, params);
    await written;
    if (client.status.current.state !== 'paused') await written.synced.catch(() => undefined);
  }

  /** Syncs every client, and checks every moment. */
  async end(): Promise<void> {
    for (const { client } of this.people) {
      await client.sync.resume();
      await client.execute(
        "INSERT INTO item (id, amount) VALUES ('end', 1) ON CONFLICT DO UPDATE SET amount = amount + 1",
      ).synced;
    }
    const [{ client }] = this.people as [Person];
    await this.requireDifferences(client);
    await this.clients.stop();
    this.moments.check(this.path(), this.clients.nowMs);
  }

  /** Restores the oldest version of an item by a new write. */
  private async restoreRow(client: Client): Promise<void> {
    if (client.status.current.state === 'paused') return;
    const history = await client.history('item', 'a');
    const { versions } = await history.page();
    const version = versions.at(-1)?.version;
    if (version !== undefined && version !== null) await history.restore(version);
  }

  private async requireDifferences(client: Client): Promise<void> {
    for (const row of ['a', 'b']) {
      const document = (await client.history('page', row)).document('content');
      const { versions } = await document.page({ pauseMs: 0, limit: 200 });
      const numbers = versions.flatMap(({ version }) => (version === null ? [] : [version]));
      for (const [from, to] of numbers.map((number, at) => [
        number,
        numbers[(at * 3 + 1) % numbers.length] as number,
      ])) {
        const [older, newer] = await Promise.all([document.at(from as number), document.at(to as number)]);
        const operations = await document.diff(from as number, to as number);
        expect(applyOperations(older as never, operations)).toEqual(newer);
      }
    }
  }

  private path(): string {
    return join(this.dataDir, 'databases', 'db-budget.sqlite');
  }

  private async serve(): Promise<void> {
    this.moments.forgetAbove(this.path());
    await this.clients.start({ dataDir: this.dataDir, schema: generations[this.generation] as Schema });
  }

  private async restart(meanwhile: () => void = () => undefined): Promise<void> {
    const paused = this.people.map(({ client }) => client.status.current.state === 'paused');
    await this.clients.stop();
    meanwhile();
    await this.serve();
    for (const [index, person] of this.people.entries()) {
      person.client = await this.open(person.device, person.generation);
      if (paused[index] === true) await person.client.sync.pause();
    }
  }

  private open(device: Device, generation: number): Promise<Client> {
    return this.clients.open({ device, schema: generations[generation] as Schema });
  }
}

afterEach(() => {
  vi.restoreAllMocks();
});

describe('a past moment', () => {
  it('equals what a replica that stopped there had, after any history with migrations and restored servers', async () => {
    await fc.assert(
      fc.asyncProperty(steps, async (taken) => {
        const world = await World.start();
        const append = Log.prototype.append;
        const spy = vi.spyOn(Log.prototype, 'append').mockImplementation(function (this: Log, entry) {
          append.call(this, entry);
          world.moments.record(this, entry.watermark, world.clients.nowMs as number);
        });
        try {
          for (const step of taken) await world.take(step);
          await world.end();
        } finally {
          spy.mockRestore();
          await world.clients.stop().catch(() => undefined);
        }
      }),
      { numRuns: atLevel({ test: 1, verify: 40 }) },
    );
  });
});
