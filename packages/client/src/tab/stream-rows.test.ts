import { RockpoolError } from '@rockpool/shared';
import { expect, it } from 'vitest';
import type { EncodedRows } from '../rpc/rows-transfer.ts';
import { streamRows, type StreamSource } from './stream-rows.ts';

const ROW: EncodedRows = { names: [], columns: [], rowCount: 1 };

class FakeSource implements StreamSource {
  asked = 0;
  closed = 0;
  private readonly chunkCount: number;

  constructor(chunkCount: number) {
    this.chunkCount = chunkCount;
  }

  call: StreamSource['call'] = (run) =>
    run({
      openStream: async () => undefined,
      nextChunk: async () => (this.asked++ < this.chunkCount ? ROW : null),
      closeStream: async () => void this.closed++,
    });
}

const STATEMENT = { sql: 'SELECT 1', params: [] };

it('streamRows fetches rows only as the loop consumes them', async () => {
  const source = new FakeSource(3);
  let seen = 0;
  for await (const rows of streamRows(source, STATEMENT)) {
    expect(rows).toHaveLength(1);
    seen++;
    // Nothing more is read while the loop is busy.
    await new Promise((resolve) => setTimeout(resolve));
    expect(source.asked).toBe(seen);
  }
  expect(seen).toBe(3);
  expect(source.closed).toBe(1);
});

it('streamRows closes the stream when the loop exits early or throws', async () => {
  const left = new FakeSource(3);
  for await (const _ of streamRows(left, STATEMENT)) break;
  expect([left.asked, left.closed]).toEqual([1, 1]);

  const failed = new FakeSource(3);
  const loop = async (): Promise<void> => {
    for await (const _ of streamRows(failed, STATEMENT)) throw new RockpoolError('internal');
  };
  await expect(loop()).rejects.toMatchObject({ code: 'internal' });
  expect([failed.asked, failed.closed]).toEqual([1, 1]);
});
