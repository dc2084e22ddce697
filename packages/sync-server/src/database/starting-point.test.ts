import { describe, expect, it } from 'vitest';
import { PROTOCOL_FLOOR, PROTOCOL_VERSION, type Failure, type Hello } from '@rockpool/shared';
import { insert } from '../../testing/changeset.ts';
import { serverUnderTest } from '../../testing/server-under-test.ts';
import { TestSite } from '../../testing/test-client.ts';

const tested = serverUnderTest();

/** Connects a site that has two decided changesets, one of them confirmed, with a modified hello. */
async function refusal(changes: Partial<Hello>): Promise<Failure> {
  const site = new TestSite();
  const a = await tested.server.open(site);
  for (const key of ['x', 'y']) await a.commit([insert('accounts', key, { name: key })]);
  a.send({ type: 'confirm', cursor: 1, lastAckedSequence: 1 });
  await a.roundTrip();
  await a.close();
  await tested.restart();
  const b = await tested.server.connect(site);
  b.hello(await tested.server.token(), 'household', changes);
  return b.failure();
}

describe('a hello', () => {
  it('is refused with the supported versions if its schema or protocol version differs', async () => {
    expect(await refusal({ schemaHash: '0'.repeat(32) })).toMatchObject({ code: 'schema-mismatch' });
    expect(await refusal({ protocolVersion: 99 })).toMatchObject({
      code: 'protocol-version',
      fields: { received: 99, floor: PROTOCOL_FLOOR, newest: PROTOCOL_VERSION },
    });
    expect(await refusal({ protocolVersion: 0 })).toMatchObject({ code: 'protocol-version' });
  });

  it('is refused if it has the server’s own site id', async () => {
    expect(await refusal({ siteId: new Uint8Array(16) })).toMatchObject({ code: 'frame-invalid' });
  });

  it.each([
    ['', 0],
    [', after it has confirmed their outcomes', 1],
  ])('receives everything again, including the site’s own writes, if it starts over%s', async (_, confirmed) => {
    const site = new TestSite();
    const a = await tested.server.open(site);
    await a.commit([insert('accounts', 'x', { name: 'x' })]);
    if (confirmed > 0) a.send({ type: 'confirm', cursor: 1, lastAckedSequence: confirmed });
    await a.roundTrip();
    await a.close();
    const b = await tested.server.connect(site);
    b.hello(await tested.server.token(), 'household', { logEpoch: null, cursor: 0 });
    await b.next('welcome');
    const first = await b.next('delivery');
    expect(first).toMatchObject({ from: 0, to: 1, outcomes: [], groups: [{ kind: 'insert', keys: [['x']] }] });
  });
});
