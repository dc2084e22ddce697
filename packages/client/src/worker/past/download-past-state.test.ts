import { bytesToHex } from '@rockpool/shared';
import { expect, it } from 'vitest';
import { downloadPastState, type DownloadedPastState } from './download-past-state.ts';

it('a past state is refused if its bytes differ from those that the server hashed', async () => {
  const packed = new Response('the rows').body?.pipeThrough(new CompressionStream('gzip'));
  const sent = new Uint8Array(await new Response(packed).arrayBuffer());
  const hash = new Uint8Array(await crypto.subtle.digest('SHA-256', sent));
  const headers = {
    'rockpool-watermark': '7',
    'rockpool-received': '1000',
    'rockpool-size': '8',
    'rockpool-sha256': bytesToHex(hash),
  };
  const download = (bytes: Uint8Array<ArrayBuffer>): Promise<DownloadedPastState> =>
    downloadPastState(
      { url: 'ws://server', databaseId: 'budget', fetch: async () => new Response(bytes, { headers }) },
      { moment: 'watermark=7', token: 'token', closed: new AbortController().signal },
      () => undefined,
    );
  const { facts, source, sizeBytes } = await download(sent);
  expect([facts, sizeBytes]).toEqual([{ version: 7, receivedMs: 1_000 }, 8]);
  expect(await new Response(source).text()).toBe('the rows');
  for (const damaged of [sent.map((byte, index) => (index === 12 ? byte ^ 1 : byte)), sent.slice(0, -1)])
    await expect(download(damaged)).rejects.toMatchObject({
      code: 'network-unreachable',
      fields: { stage: 'past-state', problem: expect.stringContaining('hash') as string },
    });
});
