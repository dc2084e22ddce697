import { DEFAULT_DOCUMENT_RULE, columnIdOf, encodeKey, tableIdOf, type CellValue } from '@rockpool/shared';
import {
  createDocument,
  documentText,
  editDocument,
  encodeDocumentCell,
  isEditOf,
  parseJson,
  type DocumentEdit,
} from '@rockpool/shared/document';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { ownSite } from '../database/own-site.ts';
import { LiveDatabase } from '../database/live-database.ts';
import { openDatabaseFile } from '../store/database-file.ts';
import { durableInFile } from '../store/durability.ts';
import { insert, toBody, update } from '../../testing/changeset.ts';
import { DirectSession } from '../../testing/direct-session.ts';
import { Replica } from '../../testing/replica.ts';
import { ANSWERED, ENDED, LOOPING } from '../../testing/misbehaving-document-worker.ts';
import { TEST_SCHEMA } from '../../testing/test-schema.ts';
import { DocumentPool, type DocumentPoolOptions } from './document-pool.ts';
import type { DocumentWork } from './document-work.ts';

const RULE = { ...DEFAULT_DOCUMENT_RULE, text: ['body'], richText: ['note'] };
const NOW_MS = 1_700_000_000_000;

const DEADLINE_MS = 10_000;

/** The text of a document that is large enough for another thread, and canonical. */
const large = (more: object = {}): string => JSON.stringify({ body: 'The tide comes in. '.repeat(20_000), ...more });
const content = (text: string): CellValue => encodeDocumentCell({ kind: 'content', json: text });

const ends: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

function pool(options: DocumentPoolOptions = {}): DocumentPool {
  // A deadline for a busy machine. The tests of the deadline set their own.
  const made = new DocumentPool({ size: 1, deadlineMs: 10 * 60_000, ...options });
  ends.push(() => made.close());
  return made;
}

/** A pool whose worker misbehaves in the way that the document's text names, after `openGate`. */
function misbehaving(options: DocumentPoolOptions = {}): {
  readonly pool: DocumentPool;
  openGate(): void;
  isLooping(): boolean;
  /** Blocks this thread until the gate has a value that the worker sets. */
  blockUntil(value: number): void;
} {
  const gate = new Int32Array(new SharedArrayBuffer(4));
  return {
    pool: pool({
      script: new URL('../../testing/misbehaving-document-worker.ts', import.meta.url),
      workerData: gate,
      ...options,
    }),
    openGate() {
      Atomics.store(gate, 0, 1);
      Atomics.notify(gate, 0);
    },
    isLooping: () => Atomics.load(gate, 0) === LOOPING,
    blockUntil(value) {
      while (Atomics.load(gate, 0) !== value);
    },
  };
}

function open(documentPool: DocumentPool): LiveDatabase {
  return new LiveDatabase(openDatabaseFile(':memory:', TEST_SCHEMA), {
    documentPool,
    onFailure: (error) => expect.unreachable(String(error)),
  });
}

function database(documentPool: DocumentPool): LiveDatabase {
  const live = open(documentPool);
  ends.push(async () => void (await live.close()));
  return live;
}

function add(live: LiveDatabase, id: string, text: string): Promise<number> {
  return live.write(toBody([insert('pages', id, { content: content(text) })]), 'ann', NOW_MS);
}

function editOf(live: LiveDatabase, state: CellValue, text: string, generation: number): DocumentEdit {
  return editDocument(state, parseJson(text, RULE), RULE, { site: ownSite(live.file), generation });
}

function send(live: LiveDatabase, id: string, edit: CellValue): Promise<number> {
  return live.write(toBody([update('pages', id, { content: edit })]), 'ann', NOW_MS);
}

function edit(live: LiveDatabase, id: string, state: CellValue, text: string, generation: number): Promise<number> {
  return send(live, id, editOf(live, state, text, generation).edit);
}

const textOf = (live: LiveDatabase, id: string): unknown =>
  live.file.sql.get('SELECT content FROM pages WHERE id = ?', id)?.[0];
const stateOf = (live: LiveDatabase, id: string): CellValue =>
  live.file.sql.get(
    'SELECT state FROM rockpool_document WHERE table_id = ? AND key = ? AND column_id = ?',
    BigInt(tableIdOf('pages')),
    encodeKey([id]),
    BigInt(columnIdOf('content')),
  )?.[0] ?? null;

describe('a large document', () => {
  it('merges in a worker thread to the same state as in the main thread', async () => {
    const live = database(pool());
    await add(live, 'p', large());
    expect(textOf(live, 'p')).toBe(large());
    const start = createDocument(parseJson(large(), RULE), RULE);
    expect(stateOf(live, 'p')).toEqual(start);
    await edit(live, 'p', start, large({ n: 1 }), 1);
    await edit(live, 'p', start, large({ m: 2 }), 2);
    expect(textOf(live, 'p')).toBe(large({ m: 2, n: 1 }));
    expect(documentText(stateOf(live, 'p'))).toBe(large({ m: 2, n: 1 }));
  });

  it('accepts consecutive late edits of a client that has the document from before its compaction', async () => {
    const live = database(pool());
    const tide = (edits: number, more: object = {}): string =>
      JSON.stringify({ body: `${'t-i-d-e-'.repeat(45 * edits)}${'tide'.repeat(45 * (25 - edits))}`, ...more });
    await add(live, 'p', tide(0));
    const start = createDocument(parseJson(tide(0), RULE), RULE);
    // Prevents compaction until the last edit, so that the state grows: each character that is inserted alone is one
    // operation, which takes several times the size of the character.
    live.file.sql.run('UPDATE rockpool_document SET compact_above = ?', BigInt(Number.MAX_SAFE_INTEGER));
    let state: CellValue = start;
    for (let edits = 1; edits <= 25; edits++) {
      if (edits === 25) live.file.sql.run('UPDATE rockpool_document SET compact_above = 1');
      const edited = editOf(live, state, tide(edits), 1);
      await send(live, 'p', edited.edit);
      state = edited.state;
    }
    expect(isEditOf(stateOf(live, 'p'), editOf(live, start, tide(0), 1).edit)).toBe(false);
    expect(live.file.sql.get('SELECT length(state) > 128 * 1024 FROM rockpool_document_replaced')).toEqual([1n]);
    const late = editOf(live, start, tide(0, { m: 2 }), 2);
    const later = editOf(live, late.state, tide(0, { m: 3, o: 4 }), 2);
    for (const edited of [late, later]) await send(live, 'p', edited.edit);
    expect(textOf(live, 'p')).toBe(tide(25, { m: 3, o: 4 }));
  });

  it('does not delay other databases, and later writes of its own database are decided after it', async () => {
    const { pool: documentPool, openGate } = misbehaving();
    const [busy, other] = [database(documentPool), database(documentPool)];
    const decided: string[] = [];
    const all = [
      add(busy, 'p', large({ do: 'wait' })).then(() => decided.push('large')),
      add(busy, 'q', '{"n":1}').then(() => decided.push('after it')),
    ];
    for (const id of ['a', 'b', 'c']) await add(other, id, '{"n":1}').then(() => decided.push(id));
    expect(decided).toEqual(['a', 'b', 'c']);
    expect(textOf(busy, 'p')).toBeUndefined();
    openGate();
    await Promise.all(all);
    expect(decided).toEqual(['a', 'b', 'c', 'large', 'after it']);
    expect(textOf(busy, 'p')).toBe(large({ do: 'wait' }));
  });

  it.each([
    ['never ends', 'loop', 'time'],
    ['ends its thread', 'crash', 'the thread that merges documents ended'],
    ['takes all memory', 'hoard', 'the thread that merges documents ended'],
  ])('is rejected with a reason if it %s, and the next document merges normally', async (_, misdeed, problem) => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const { pool: documentPool, isLooping } = misbehaving({ deadlineMs: DEADLINE_MS, maxHeapMb: 64 });
    const live = database(documentPool);
    const adding = add(live, 'p', large({ do: misdeed }));
    if (misdeed === 'loop') {
      while (!isLooping()) await new Promise((resolve) => setImmediate(resolve));
      // The message that the thread sent before is received in this turn.
      await new Promise((resolve) => setImmediate(resolve));
      vi.advanceTimersByTime(DEADLINE_MS);
    }
    await expect(adding).rejects.toMatchObject({ code: 'document-too-costly', fields: { problem } });
    expect(textOf(live, 'p')).toBeUndefined();
    await add(live, 'q', '{"n":1}');
    await add(live, 'p', large());
    expect(textOf(live, 'p')).toBe(large());
  });

  it('is merged in another thread if its thread had ended while it was idle', async () => {
    const { pool: documentPool, openGate, blockUntil } = misbehaving();
    const expand = (json: string): DocumentWork => ({
      kind: 'expand',
      content: content(json) as Uint8Array,
      rule: RULE,
    });
    await documentPool.run(expand('{"do":"end"}'));
    openGate();
    // The pool does not learn of the end meanwhile.
    blockUntil(ENDED);
    expect(await documentPool.run(expand('{"n":1}'))).toMatchObject({ text: '{"n":1}' });
    await expect(documentPool.run(expand('{"do":"crash"}'))).rejects.toMatchObject({ code: 'document-too-costly' });
    expect(await documentPool.run(expand('{"n":2}'))).toMatchObject({ text: '{"n":2}' });
  });

  it('is merged if its answer waits while this thread is busy until after the deadline', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const { pool: documentPool, blockUntil } = misbehaving({ deadlineMs: DEADLINE_MS });
    const merged = documentPool.run({ kind: 'expand', content: content('{"do":"answer"}') as Uint8Array, rule: RULE });
    const settled = Promise.allSettled([merged]);
    // Nothing reaches this thread meanwhile, not even that the worker has loaded its script.
    blockUntil(ANSWERED);
    vi.advanceTimersByTime(10 * 60_000);
    expect(await settled).toMatchObject([{ status: 'fulfilled' }]);
  });

  it('can be sent again if the thread could not load its script, for example during an upgrade', async () => {
    // A package that is being replaced: a file that is missing or not complete.
    const script = new URL('data:text/javascript,import {');
    const failures: unknown[] = [];
    const live = new LiveDatabase(openDatabaseFile(':memory:', TEST_SCHEMA), {
      documentPool: pool({ script }),
      onFailure: (error) => failures.push(error),
    });
    ends.push(async () => void (await live.close()));
    for (let times = 0; times < 4; times++)
      await expect(add(live, 'p', large())).rejects.toMatchObject({ code: 'database-unavailable' });
    expect(failures[0]).toMatchObject({ cause: { cause: { name: 'SyntaxError' } } });
    await add(live, 'q', '{"n":1}');
  });

  it('accepts many edits of one push and decides each once', async () => {
    let decided = 0;
    const live = new LiveDatabase(openDatabaseFile(':memory:', TEST_SCHEMA), {
      documentPool: pool(),
      validate: () => (decided++, null),
      onFailure: (error) => expect.unreachable(String(error)),
    });
    ends.push(async () => void (await live.close()));
    const replica = new Replica();
    replica.site.nowMs = () => NOW_MS;
    const site = Buffer.from(replica.site.siteId).toString('hex');
    let state: CellValue = createDocument(parseJson(large(), RULE), RULE);
    replica.write([insert('pages', 'p', { content: content(large()) })]);
    for (const n of [1, 2, 3, 4, 5]) {
      const edited = editDocument(state, parseJson(large({ n }), RULE), RULE, { site, generation: 1 });
      state = edited.state;
      replica.site.write([update('pages', 'p', { content: edited.edit })]);
      replica.site.write([update('pages', 'p', { title: `title ${n}` })]);
    }
    const session = new DirectSession(live, replica, NOW_MS);
    session.push(1, 11, NOW_MS);
    const later = add(live, 'q', '{"n":1}');
    expect(await later).toBe(12);
    expect(decided).toBe(12);
    expect(session.failure).toBeNull();
    // The first delivery of the session, and fewer than one for each of the six changesets that are merged in a thread.
    expect(session.deliveries.length).toBeLessThan(1 + 6);
    expect(
      live.file.sql.all(
        'SELECT sequence, error_code FROM rockpool_log JOIN rockpool_outcome USING (site_number, sequence, watermark) ORDER BY watermark LIMIT 11',
      ),
    ).toEqual(Array.from({ length: 11 }, (_, i) => [BigInt(i + 1), null]));
    expect(stateOf(live, 'p')).toEqual(state);
    expect(textOf(live, 'p')).toBe(large({ n: 5 }));
  });

  it('is merged together with another one in the same changeset, which is decided once', async () => {
    const live = database(pool());
    await live.write(
      toBody([
        insert('pages', 'p', { content: content(large()) }),
        insert('pages', 'q', { content: content(large({ q: 1 })) }),
      ]),
      'ann',
      NOW_MS,
    );
    const [p, q] = [large(), large({ q: 1 })].map((text) => createDocument(parseJson(text, RULE), RULE)) as [
      Uint8Array,
      Uint8Array,
    ];
    const edits = [
      update('pages', 'p', { content: editOf(live, p, large({ n: 1 }), 1).edit }),
      update('pages', 'q', { content: editOf(live, q, large({ n: 2 }), 1).edit }),
    ];
    expect(await live.write(toBody(edits), 'ann', NOW_MS)).toBe(2);
    expect([textOf(live, 'p'), textOf(live, 'q')]).toEqual([large({ n: 1 }), large({ n: 2 })]);
  });

  it('is decided even if another instance commits before each attempt', async () => {
    const file = openDatabaseFile(':memory:', TEST_SCHEMA);
    const own = durableInFile(file);
    const { number: siteNumber } = file.sites.create('aa'.repeat(16), 'ben');
    let others = 0;
    const commit = <Result>(body: () => Result): Result | Promise<Result> => {
      file.log.append({
        watermark: file.log.watermark + 1,
        siteNumber,
        sequence: ++others,
        hash: new Uint8Array(16),
        stampUs: 1,
        base: 0,
        isOfOlderEpoch: false,
        isRepetition: false,
        principal: 'ben',
        receivedMs: NOW_MS,
      });
      return own.commit(body);
    };
    const live = new LiveDatabase(
      { ...own, commit },
      { documentPool: pool(), onFailure: (error) => expect.unreachable(String(error)) },
    );
    ends.push(async () => void (await live.close()));
    await add(live, 'p', large());
    const start = createDocument(parseJson(large(), RULE), RULE);
    file.sql.run('UPDATE rockpool_document SET compact_above = 1');
    await edit(live, 'p', start, large({ n: 1 }), 1);
    expect(textOf(live, 'p')).toBe(large({ n: 1 }));
    expect(others).toBe(4);
    // The push includes edits of the document that the first edit compacted.
    await edit(live, 'p', start, large({ m: 2 }), 2);
    expect(textOf(live, 'p')).toBe(large({ m: 2, n: 1 }));
    expect(others).toBe(6);
  });

  it('is rejected like in the main thread if it cannot be merged', async () => {
    const live = database(pool());
    await add(live, 'p', large());
    const start = createDocument(parseJson(large(), RULE), RULE);
    const first = editDocument(start, parseJson(large({ n: 1 }), RULE), RULE, {
      site: ownSite(live.file),
      generation: 1,
    });
    await expect(edit(live, 'p', first.state, large({ n: 2 }), 1)).rejects.toMatchObject({ code: 'document-gap' });
    expect(textOf(live, 'p')).toBe(large());
  });

  it('fails temporarily if no thread can be started, and delays no other push', async () => {
    const failures: unknown[] = [];
    const live = new LiveDatabase(openDatabaseFile(':memory:', TEST_SCHEMA), {
      documentPool: pool({ script: new URL('https://nowhere.invalid/worker.js') }),
      onFailure: (error) => failures.push(error),
    });
    ends.push(async () => void (await live.close()));
    const [heavy, light] = await Promise.allSettled([add(live, 'p', large()), add(live, 'q', '{"n":1}')]);
    expect(heavy).toMatchObject({ status: 'rejected', reason: { code: 'database-unavailable' } });
    expect(light).toMatchObject({ status: 'fulfilled', value: 1 });
    expect(failures).toHaveLength(1);
  });

  it('is decided before the database closes', async () => {
    const documentPool = pool();
    const live = open(documentPool);
    const written = add(live, 'p', large());
    let outcome: unknown;
    void written.then((watermark) => (outcome = watermark));
    await live.close();
    expect(outcome).toBe(1);
    await documentPool.close();
    await expect(
      documentPool.run({ kind: 'expand', content: content('{}') as Uint8Array, rule: RULE }),
    ).rejects.toMatchObject({ code: 'database-unavailable' });
  });

  it('fails if its pool closes first, whether its thread is at work or it waits for one', async () => {
    const { pool: documentPool } = misbehaving();
    const unfinished = ['{"do":"wait"}', '{}'].map((json) =>
      documentPool.run({ kind: 'expand', content: content(json) as Uint8Array, rule: RULE }),
    );
    const settled = Promise.allSettled(unfinished);
    await documentPool.close();
    const failure = { status: 'rejected', reason: { code: 'database-unavailable' } };
    expect(await settled).toMatchObject([failure, failure]);
  });
});
