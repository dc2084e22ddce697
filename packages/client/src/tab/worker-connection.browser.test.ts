import { RockpoolError } from '@rockpool/shared';
import { afterEach, describe, expect, it } from 'vitest';
import { connectWorker, type WorkerConnection } from './worker-connection.ts';

const closed = new RockpoolError('client-closed');
const connections: WorkerConnection[] = [];

function connect(script: string): { readonly connection: WorkerConnection; readonly problems: RockpoolError[] } {
  const problems: RockpoolError[] = [];
  const url = URL.createObjectURL(new Blob([script], { type: 'text/javascript' }));
  const connection = connectWorker(new Worker(url, { type: 'module' }), (error) => problems.push(error));
  connections.push(connection);
  return { connection, problems };
}

/** Answers every call as comlink would. */
const ANSWERING = `addEventListener('message', ({ data }) => { if (data.type === 'APPLY') postMessage({ id: data.id, type: 'RAW', value: 'answer' }); });`;

const query = (connection: WorkerConnection): Promise<unknown> => connection.call((worker) => worker.query({ sql: 'SELECT 1', params: [] }));

afterEach(() => {
  for (const connection of connections.splice(0)) connection.end(closed);
});

describe('a call into the worker', () => {
  it('gets its answer', async () => {
    expect(await query(connect(ANSWERING).connection)).toBe('answer');
  });

  it('fails when the script of the worker cannot be run, and so do later ones', async () => {
    for (const script of ['this is not JavaScript', `import './nowhere.js';`, `throw new Error('at the start')`]) {
      const { connection } = connect(script);
      await expect(query(connection)).rejects.toMatchObject({ code: 'internal' });
      await expect(query(connection)).rejects.toMatchObject({ code: 'internal' });
    }
  });

  it('fails when the connection is ended before the answer came', async () => {
    const { connection } = connect('');
    const waiting = query(connection);
    connection.end(closed);
    await expect(waiting).rejects.toBe(closed);
    await expect(query(connection)).rejects.toBe(closed);
  });
});

it('an error in a worker that answers is reported, and the worker goes on', async () => {
  const { connection, problems } = connect(`${ANSWERING} addEventListener('message', () => setTimeout(() => { throw new TypeError('later'); }));`);
  await query(connection);
  await expect.poll(() => problems.map(({ code }) => code)).toEqual(['internal']);
  expect(await query(connection)).toBe('answer');
});
