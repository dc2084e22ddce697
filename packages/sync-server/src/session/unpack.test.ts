import { deflateRawSync } from 'node:zlib';
import { encodeMessage, encodePacked, MAX_PACKED_BYTES } from '@rockpool/shared';
import { describe, expect, it } from 'vitest';
import { insert } from '../../testing/changeset.ts';
import { serverUnderTest } from '../../testing/server-under-test.ts';
import { TestSite } from '../../testing/test-client.ts';
import { unpack } from './unpack.ts';

const packed = (message: Uint8Array, sizeBytes: number = message.length): Uint8Array =>
  encodePacked({ sizeBytes, deflated: deflateRawSync(message) });

describe('unpack', () => {
  it('returns the message that was packed, and any other message unchanged', () => {
    const message = Uint8Array.from({ length: 70_000 }, (_, i) => i % 7);
    expect(Buffer.compare(unpack(packed(message)), message)).toBe(0);
    expect(unpack(Uint8Array.of(5))).toStrictEqual(Uint8Array.of(5));
  });

  it('refuses a wrong declared size, invalid DEFLATE data, and a message over the limit', () => {
    const zeros = new Uint8Array(MAX_PACKED_BYTES + 1);
    for (const bytes of [
      packed(zeros, 1_000),
      packed(zeros.slice(0, 10), 11),
      packed(zeros.slice(0, 10), 9),
      encodePacked({ sizeBytes: 10, deflated: new Uint8Array(20).fill(0xff) }),
    ]) {
      expect(() => unpack(bytes)).toThrow(expect.objectContaining({ code: 'frame-invalid' }));
    }
    expect(() => unpack(packed(zeros))).toThrow(expect.objectContaining({ code: 'frame-too-large' }));
  });
});

describe('a session', () => {
  const tested = serverUnderTest();

  it('accepts a packed push', async () => {
    const site = new TestSite();
    const connection = await tested.server.open(site);
    for (let i = 0; i < 50; i++) site.write([insert('accounts', `k${i}`, { name: `name ${i}` })]);
    connection.sendMessage(packed(connection.pushMessage()));
    await connection.decided(50);
    expect(tested.server.query('SELECT count(*) FROM accounts')).toEqual([[50n]]);
  });

  it('refuses packed messages before it is open, and messages packed twice', async () => {
    const early = await tested.server.connect();
    early.sendMessage(packed(encodeMessage({ type: 'ping' })));
    expect(await early.failure()).toMatchObject({ code: 'frame-invalid' });
    const open = await tested.server.open();
    open.sendMessage(packed(packed(encodeMessage({ type: 'ping' }))));
    expect(await open.failure()).toMatchObject({ code: 'frame-invalid' });
  });
});
