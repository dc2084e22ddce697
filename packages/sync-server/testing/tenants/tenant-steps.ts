import { RockpoolError, tableIdOf, type Changeset } from '@rockpool/shared';
import { encodeDocumentCell } from '@rockpool/shared/document';
import type { BackendTransaction } from '../../src/backend/backend-transaction.ts';
import { insert, remove, update, withAges } from '../changeset.ts';
import { HttpSessionClient } from '../http-session-client.ts';
import { TEST_TABLES } from '../test-schema.ts';
import { canaryInteger, canaryReal } from './canary.ts';
import { asText } from './canary-watch.ts';
import type { Tenant } from './tenant.ts';

/** `key` is 0 to 5. Steps with the same key write to the same rows. */
export type TenantStep = (tenant: Tenant, key: number) => Promise<void>;

/** A key for which every tenant has a row. */
const sharedKey = (key: number): string => `row-${key}`;
/** A key for which no other tenant has a row. */
const ownKey = (tenant: Tenant, key: number): string => tenant.text(`row of ${key}`);

const insertAccount: TenantStep = (tenant, key) =>
  tenant.write(
    insert('accounts', ownKey(tenant, key), {
      name: tenant.text(`account ${key}`),
      rank: canaryInteger(tenant.number, key),
    }),
  );

const insertEntries: TenantStep = (tenant, key) =>
  tenant.write(
    ...[ownKey(tenant, key), sharedKey(key)].map((id) =>
      insert('entries', id, {
        amount: 0n,
        note: tenant.text(`note ${key}`),
        weight: canaryReal(tenant.number, key),
        receipt: Buffer.from(tenant.text(`receipt ${key}`)),
      }),
    ),
    insert('labels', [ownKey(tenant, key), canaryInteger(tenant.number, key)], {}),
  );

const updateEntries: TenantStep = (tenant, key) =>
  tenant.write(
    ...[ownKey(tenant, key), sharedKey(key)].map((id) =>
      update('entries', id, { note: tenant.text(`newer note ${key}`), weight: canaryReal(tenant.number, key + 6) }),
    ),
  );

const removeEntry: TenantStep = (tenant, key) => tenant.write(remove('entries', sharedKey(key)));

const sellProduct: TenantStep = async (tenant, key) => {
  await tenant.write(
    insert('products', sharedKey(key), {
      stock: canaryInteger(tenant.number, key + 32),
      price: canaryInteger(tenant.number, key),
      currency: tenant.text('currency'),
    }),
  );
  await tenant.write(update('products', sharedKey(key), { stock: -1n }));
};

const writePage: TenantStep = (tenant, key) =>
  tenant.write(
    insert('pages', sharedKey(key), {
      title: tenant.text('title'),
      content: encodeDocumentCell({ kind: 'content', json: pageOf(tenant, key) }),
    }),
  );

/** The intended content of a page, apart from concurrent edits. */
export function pageOf(tenant: Tenant, key: number): string {
  return JSON.stringify({ body: tenant.text(`body ${key}`), [tenant.text('member')]: tenant.text(`value ${key}`) });
}

/** Writes duplicate values, oversized values, values of the wrong type, and values for missing rows and tables. */
const breakConstraints: TenantStep = async (tenant, key) => {
  await tenant.write(insert('accounts', tenant.newKey(), { name: tenant.text(`account ${key}`) }));
  await tenant.write(insert('entries', tenant.newKey(), { amount: canaryInteger(tenant.number, key) }));
  await tenant.write(insert('splits', tenant.newKey(), { entry_id: tenant.text('nowhere') }));
  await tenant.write(insert('accounts', tenant.newKey(), { name: null, rank: tenant.text('no number') }));
  await tenant.write(insert('pages', tenant.newKey(), { content: tenant.text('no document') }));
};

const breakRule: TenantStep = async (tenant) => {
  tenant.verdict = 'refuse';
  await tenant.write(insert('notes', tenant.newKey(), { title: tenant.text('refused'), reads: 0n }));
  tenant.verdict = 'admit';
};

const failInRule: TenantStep = (tenant) =>
  tenant.writeWhileTheRuleFails(insert('notes', tenant.newKey(), { title: tenant.text('not for now'), reads: 0n }));

const writeAtBackend: TenantStep = async (tenant, key) => {
  const principal = tenant.text('backend');
  const id = tenant.newKey();
  await tenant.backend.transaction(
    (tx) => {
      tx.insert('accounts', { id, name: tenant.text(`account ${id}`), rank: canaryInteger(tenant.number, key) });
      tenant.watch.look(
        'query',
        asText(['accounts', 'entries', 'pages'].map((table) => tx.query(`SELECT * FROM ${table}`))),
        tenant.number,
      );
    },
    { principal },
  );
  await tenant.backend.transaction((tx) => writeDocument(tx, sharedKey(key), pageOf(tenant, key + 6)), { principal });
  const refused = await tenant.backend
    .transaction((tx) => tx.insert('accounts', { id: tenant.newKey(), name: tenant.text(`account ${id}`) }))
    .catch((error: unknown) => error);
  if (refused instanceof RockpoolError) tenant.watch.lookAtError(asText(refused.toData()), tenant.number);
};

/** Documents of this size are merged in a thread that serves all databases. */
const LONG = 'x'.repeat(130 * 1024);

const writeLongPage: TenantStep = async (tenant, key) => {
  await tenant.backend.transaction((tx) =>
    writeDocument(tx, 'long page', JSON.stringify({ body: `${tenant.text(key)}${LONG}${tenant.text(key + 6)}` })),
  );
};

/** Updates the document if its row exists, which makes an edit. */
function writeDocument(tx: BackendTransaction, id: string, content: string): void {
  if (tx.query('SELECT 1 FROM pages WHERE id = ?', id).length === 0) tx.insert('pages', { id, content });
  else tx.update('pages', { id }, { content });
}

const readAtBackend: TenantStep = async (tenant) => {
  for (const from of [null, tenant.position])
    tenant.watch.look('feed', asText(await tenant.backend.changesAfter(from)), tenant.number);
};

const listen: TenantStep = async (tenant) => (await tenant.listen()).close();

/** Audits with wrong fingerprints for every table; the server responds with every row. */
const audit: TenantStep = async (tenant) => {
  const connection = await tenant.listen();
  connection.send({
    type: 'audit',
    cursor: connection.site.cursor,
    tables: TEST_TABLES.map(({ id }) => ({ tableId: id, sums: [1, 1, 1, 1] })),
  });
  await connection.next('audit-answer');
  await connection.close();
};

/** Lets one request wait for the writes of another device while this device writes too. */
const talkOverHttp: TenantStep = async (tenant, key) => {
  const client = await HttpSessionClient.open((...request) => tenant.ask(...request), tenant.newSite());
  tenant.watch.keepSecret(tenant.number, client.id);
  await client.hello(tenant.token, tenant.databaseId);
  for (let message = await client.next(); message.type !== 'delivery';) message = await client.next();
  const waiting = client.next();
  await tenant.write(
    insert('notes', tenant.newKey(), { title: tenant.text('over HTTP'), reads: canaryInteger(tenant.number, key) }),
  );
  await waiting;
  const changeset: Changeset = client.site.write([insert('labels', [tenant.newKey(), BigInt(key)], {})], { base: 0 });
  await client.send({
    type: 'push',
    previousHash: client.site.hashes[0] as Uint8Array,
    olderEpochUpTo: 0,
    changesets: withAges([changeset], client.site.nowMs()),
  });
  await client.next();
  await client.leave();
};

const takeSnapshot: TenantStep = async (tenant) => {
  const connection = await tenant.connect();
  connection.hello(tenant.token, tenant.databaseId, { snapshot: 'accepted' });
  await connection.next('welcome');
  await connection.close();
  await tenant.takeSnapshot();
};

const show: TenantStep = (tenant, key) => tenant.show(key);

const nameMembers: TenantStep = async (tenant, key) => {
  const member = `/databases/${tenant.databaseId}/members/${encodeURIComponent(tenant.text(`member ${key}`))}`;
  await tenant.ask('PUT', member, { body: JSON.stringify({ role: 'viewer' }) });
  await (await tenant.ask('GET', `/databases/${tenant.databaseId}/members`)).text();
  await tenant.ask('DELETE', member);
};

const invite: TenantStep = async (tenant) => {
  const tokenOf = (name: string): Promise<string> =>
    tenant.server.sync.issueToken({ principal: tenant.text(name), databases: [], ttlMs: 3_600_000 });
  const { code } = (await (
    await tenant.ask('POST', `/databases/${tenant.databaseId}/invitations`, {
      body: JSON.stringify({ role: 'editor' }),
    })
  ).json()) as { code: string };
  tenant.watch.keepSecret(tenant.number, code);
  const accept = { token: await tokenOf('guest'), body: JSON.stringify({ code }) };
  // A member may repeat the acceptance.
  for (let i = 0; i < 2; i++) await (await tenant.ask('POST', '/invitations/accept', accept)).text();
  await tenant.refusedRequest('POST', '/invitations/accept', { ...accept, token: await tokenOf('second guest') });
};

/** Sends invalid requests that contain canaries, which errors must not repeat. */
const askNonsense: TenantStep = async (tenant) => {
  const text = tenant.text('nonsense');
  const of = (path: string): string => `/databases/${tenant.databaseId}/${path}`;
  await tenant.refusedRequest('PUT', of(`members/${text}`), { body: JSON.stringify({ role: text }) });
  await tenant.refusedRequest('POST', of('invitations'), { body: `{"${text}` });
  await tenant.refusedRequest('POST', '/invitations/accept', { body: JSON.stringify({ code: text }) });
  await tenant.refusedRequest('GET', of(`snapshot?schema=${text}`));
  await tenant.refusedRequest('GET', of(text), { token: text });
  await tenant.refusedRequest('POST', `/sessions/${text}`, { body: text });
  await tenant.refusedHello(tenant.databaseId, tenant.newSite(), { token: text });
  await tenant.refusedHello(tenant.databaseId, tenant.newSite(), { schemaHash: text });
  const connection = await tenant.listen();
  connection.socketForAbuse.send(text);
  tenant.watch.lookAtError(asText(await connection.failure()), tenant.number);
};

const askUnknownTable: TenantStep = async (tenant) => {
  const connection = await tenant.listen();
  connection.send({
    type: 'audit',
    cursor: connection.site.cursor,
    tables: [{ tableId: tableIdOf(tenant.text('table')), sums: [0, 0] }],
  });
  tenant.watch.lookAtError(asText(await connection.failure()), tenant.number);
};

/** Steps of a tenant in its own database. */
export const OWN_STEPS: Readonly<Record<string, TenantStep>> = {
  insertAccount,
  insertEntries,
  updateEntries,
  removeEntry,
  sellProduct,
  writePage,
  breakConstraints,
  breakRule,
  failInRule,
  writeAtBackend,
  writeLongPage,
  readAtBackend,
  listen,
  audit,
  talkOverHttp,
  takeSnapshot,
  show,
  nameMembers,
  invite,
  askNonsense,
  askUnknownTable,
};
