import { DEFAULT_DOCUMENT_RULE, FIRST_LOG_HASH, FIRST_PREVIOUS_HASH } from '@rockpool/shared';
import { createDocument, editDocument, parseJson } from '@rockpool/shared/document';
import { expect } from 'vitest';
import { update } from '../changeset.ts';
import { HttpSessionClient } from '../http-session-client.ts';
import { TestSite } from '../test-client.ts';
import { asText } from './canary-watch.ts';
import { snapshotPath, type Tenant } from './tenant.ts';
import { pageOf } from './tenant-steps.ts';

/** An attack by a tenant who knows every id of another tenant. `key` is 0 to 5. */
export type Intrusion = (intruder: Tenant, victim: Tenant, key: number) => Promise<void>;

/** An id without a database. The responses for it must equal those for another tenant's database. */
const NOWHERE = 'nowhere';

/** The state of the victim's device that others could know. */
function copyOf({ writer: { site } }: Tenant): TestSite {
  const copy = new TestSite(site.siteId);
  [copy.databaseIdentity, copy.logEpoch, copy.cursor, copy.lastAckedSequence] = [
    site.databaseIdentity,
    site.logEpoch,
    site.cursor,
    site.lastAckedSequence,
  ];
  for (const [cursor, logHash] of site.logHashes) copy.logHashes.set(cursor, logHash);
  copy.hashes.push(...site.hashes.slice(1));
  return copy;
}

const joinWithAnotherId: Intrusion = async (intruder, victim) => {
  const refusals = [
    await intruder.refusedHello(victim.databaseId, copyOf(victim)),
    await intruder.refusedHello(victim.databaseId),
    await intruder.refusedHello(NOWHERE),
  ];
  for (const refusal of refusals)
    expect(refusal).toEqual({
      failure: { type: 'failure', code: 'auth-database-forbidden', fields: {} },
      closed: { code: 4000, reason: 'auth-database-forbidden' },
    });
};

const joinOverHttp: Intrusion = async (intruder, victim) => {
  for (const databaseId of [victim.databaseId, NOWHERE]) {
    const client = await HttpSessionClient.open((...request) => intruder.ask(...request), intruder.newSite());
    await client.hello(intruder.token, databaseId);
    expect([await client.next(), client.closed]).toEqual([
      { type: 'failure', code: 'auth-database-forbidden', fields: {} },
      '4000 auth-database-forbidden',
    ]);
  }
};

const askRoutes: Intrusion = async (intruder, victim) => {
  const asked = (databaseId: string): [method: string, path: string, body?: string][] => [
    ['GET', `/databases/${databaseId}/members`],
    ['PUT', `/databases/${databaseId}/members/${encodeURIComponent(intruder.text('owner'))}`, '{"role":"owner"}'],
    ['DELETE', `/databases/${databaseId}/members/${encodeURIComponent(victim.text('owner'))}`],
    ['POST', `/databases/${databaseId}/invitations`, '{"role":"owner"}'],
    ['GET', `/databases/${databaseId}/invitations`],
    ['DELETE', `/databases/${databaseId}/invitations/${'0'.repeat(16)}`],
    ['GET', snapshotPath(databaseId)],
  ];
  const nowhere = asked(NOWHERE);
  for (const [i, [method, path, body]] of asked(victim.databaseId).entries()) {
    const request = body === undefined ? {} : { body };
    const refusal = await intruder.refusedRequest(method, path, request);
    expect(refusal.status).toBe(403);
    expect(refusal).toEqual(await intruder.refusedRequest(method, nowhere[i]?.[1] as string, request));
  }
};

/** Opens the attacker's own database with a cursor, or a snapshot position, of the victim's log. */
const bringForeignCursor: Intrusion = async (intruder, victim, key) => {
  const { logEpoch, cursor, logHashes, hashes } = victim.writer.site;
  const logHash = logHashes.get(cursor) ?? FIRST_LOG_HASH;
  const connection = await intruder.connect();
  connection.hello(intruder.token, intruder.databaseId, {
    databaseIdentity: intruder.writer.site.databaseIdentity,
    logEpoch,
    cursor: key % 2 === 0 ? cursor : 0,
    cursorHash: logHash,
    decidedHash: hashes.at(-1) ?? FIRST_PREVIOUS_HASH,
    snapshot: logEpoch === null ? 'refused' : { logEpoch, watermark: cursor, logHash },
  });
  // The file belongs to a different log, so the server offers its own file or sends everything.
  if (!(await connection.next('welcome')).takeSnapshot) await connection.next('delivery');
  await connection.close();
  intruder.watch.look('feed', asText(await intruder.backend.changesAfter(victim.position)), intruder.number);
};

/**
 * Opens another tenant's whole device for the attacker's own database, where the token is valid. Its rows must not be
 * synced.
 */
const openForeignDevice: Intrusion = async (intruder, victim, key) => {
  const copy = copyOf(victim);
  // Also tries a device from before databases had identities.
  if (key % 2 === 0) copy.databaseIdentity = null;
  if (copy.databaseIdentity === null && copy.logEpoch === null) return; // The device has never synced.
  expect(await intruder.refusedHello(intruder.databaseId, copy)).toMatchObject({
    failure: { code: 'database-mismatch' },
  });
};

/** Requests a range of a file by the victim's ETag. */
const askForForeignRange: Intrusion = async (intruder, victim) => {
  const headers = { range: 'bytes=0-', 'if-range': (await victim.takeSnapshot()) ?? '' };
  await intruder.takeSnapshot(headers);
  expect((await intruder.refusedRequest('GET', snapshotPath(victim.databaseId), { headers })).status).toBe(403);
};

const RULE = { ...DEFAULT_DOCUMENT_RULE, text: ['body'], richText: ['note'] };

/** Document ids derive from the content; the edit names the victim's document. */
const editForeignDocument: Intrusion = async (intruder, victim, key) => {
  const document = createDocument(parseJson(pageOf(victim, key), RULE), RULE);
  const { edit } = editDocument(document, parseJson(pageOf(intruder, key), RULE), RULE, {
    site: Buffer.from(intruder.writer.site.siteId).toString('hex'),
    generation: intruder.writer.site.changelog.length + 1,
  });
  await intruder.write(update('pages', `row-${key}`, { content: edit }));
};

const renewElsewhere: Intrusion = async (intruder, victim) => {
  const connection = await intruder.listen();
  connection.send({
    type: 'renew-token',
    token: await intruder.server.sync.issueToken({
      principal: intruder.text('owner'),
      databases: [],
      formerly: [victim.text('owner')],
      ttlMs: 3_600_000,
    }),
  });
  intruder.watch.lookAtError(asText(await connection.failure()), intruder.number);
};

/** Attempts to reach another tenant's data. None may succeed. */
export const INTRUSIONS: Readonly<Record<string, Intrusion>> = {
  joinWithAnotherId,
  joinOverHttp,
  askRoutes,
  bringForeignCursor,
  openForeignDevice,
  askForForeignRange,
  editForeignDocument,
  renewElsewhere,
};
