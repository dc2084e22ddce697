import { RockpoolError } from '@rockpool/shared';
import { describe, expect, it } from 'vitest';
import type { PastState } from '../interface/past-state.ts';
import type { PastAnswer, PastAsk } from '../rpc/past-state.ts';
import { openPastState } from './past-state.ts';

/** The part of a worker that answers about past states. A restart loses its memory. */
class TestWorker {
  readonly opened = new Set<string>();
  readonly asked: PastAsk['kind'][] = [];
  downloaded: Promise<void> = Promise.resolve();
  readonly ask = async ({ kind, id }: PastAsk): Promise<PastAnswer> => {
    this.asked.push(kind);
    if (kind === 'query') return this.opened.has(id) ? { names: [], columns: [], rowCount: 0 } : null;
    if (kind === 'close') {
      this.opened.delete(id);
      return null;
    }
    await this.downloaded;
    this.opened.add(id);
    return { version: 1, receivedMs: 0, laterColumns: [] };
  };

  restart(): void {
    this.opened.clear();
    this.asked.length = 0;
  }
}

describe('a past state whose worker was restarted', () => {
  it('is opened again once for concurrent queries', async () => {
    const worker = new TestWorker();
    const past = await openPastState({ newId: () => 'p', ask: worker.ask }, { version: 1 });
    worker.restart();
    expect(await Promise.all([past.query('SELECT 1'), past.query('SELECT 2')])).toEqual([[], []]);
    expect(worker.asked).toEqual(['query', 'query', 'open', 'query', 'query']);
    worker.restart();
    expect(await past.query('SELECT 3')).toEqual([]);
  });

  it('stays closed if it is closed while it is opened again', async () => {
    const worker = new TestWorker();
    const past = await openPastState({ newId: () => 'p', ask: worker.ask }, { version: 1 });
    worker.restart();
    const downloaded = Promise.withResolvers<void>();
    worker.downloaded = downloaded.promise;
    const rows = past.query('SELECT 1');
    await expect.poll(() => worker.asked).toContain('open');
    const closed = past.close();
    downloaded.resolve();
    expect(await rows).toEqual([]);
    await closed;
    expect(worker.opened.size).toBe(0);
  });

  it('is not opened again for a query that was under way when it was closed', async () => {
    const worker = new TestWorker();
    const past = await openPastState({ newId: () => 'p', ask: worker.ask }, { version: 1 });
    worker.restart();
    const rows = past.query('SELECT 1');
    const closed = past.close();
    await expect(rows).rejects.toMatchObject({ code: 'client-closed' });
    await closed;
    expect(worker.asked).toEqual(['query', 'close']);
  });
});

it('a past state can be closed after its client, which has freed its memory', async () => {
  const worker = new TestWorker();
  let error: RockpoolError | null = null;
  const ask = (given: PastAsk): Promise<PastAnswer> => (error === null ? worker.ask(given) : Promise.reject(error));
  const open = (): Promise<PastState> => openPastState({ newId: () => 'p', ask }, { version: 1 });
  const [first, second] = [await open(), await open()];
  error = new RockpoolError('client-closed');
  await first.close();
  error = new RockpoolError('internal');
  await expect(second.close()).rejects.toBe(error);
});
