import { encodeSchema } from '@rockpool/shared';
import { sqliteTable, text } from 'drizzle-orm/sqlite-core';
import { afterEach, describe, expect, it } from 'vitest';
import { commands } from 'vitest/browser';
import * as Y from 'yjs';
import type { Client } from './client.ts';
import type { ClientOptions } from './interface/client-options.ts';
import type { Peer } from './interface/presence.ts';
import { createClient } from './create-client.ts';
import { newId } from './new-id.ts';
import { defineSchema } from './schema/define-schema.ts';
import { sql } from './tab/sql.ts';
import { freshName, openTab, until, type BrowserTab } from '../testing/browser-tabs.ts';

const note = sqliteTable('note', { id: text().primaryKey(), content: text() });
const schema = defineSchema([note], {
  merge: [{ table: note, documents: [{ column: note.content, text: ['body'] }] }],
});

const clients: Client[] = [];
const tabs: BrowserTab[] = [];

afterEach(async () => {
  for (const tab of tabs.splice(0)) tab.kill();
  await Promise.all(clients.splice(0).map((client) => client.close()));
});

/** Opens a client on a device of this user. Each name stands for a database, and so for a site. */
async function deviceOf(principal: string, databaseId: string): Promise<ClientOptions> {
  const { url, token } = await commands.accessToSyncServer(
    encodeSchema(schema),
    databaseId,
    location.origin,
    principal,
  );
  return { name: freshName(), schema, sync: { url, databaseId, token: () => token } };
}

async function open(options: ClientOptions): Promise<Client> {
  const client = await createClient(options);
  clients.push(client);
  return client;
}

async function openBeside(options: ClientOptions): Promise<BrowserTab> {
  const tab = await openTab(options);
  tabs.push(tab);
  return tab;
}

const seenBy = (client: Client): readonly (readonly [string, unknown])[] =>
  client.presence.current.map(({ principal, state }) => [principal, state]);

describe('presence', () => {
  it('lists every tab of every device under its verified name until it leaves', async () => {
    const databaseId = newId();
    const [anns, bens] = [await deviceOf('ann', databaseId), await deviceOf('ben', databaseId)];
    const ann = await open(anns);
    const second = await openBeside(anns);
    const ben = await open(bens);
    for (const client of [ann, ben]) client.presence.subscribe(() => undefined);
    ann.presence.set({ page: 'budget' });
    second.client.presence.set({ page: 'accounts', principal: 'ben' });
    ben.presence.set(1);
    await until(() => seenBy(ben).length === 2 && seenBy(ann).length === 2);
    expect(new Set(seenBy(ben))).toEqual(
      new Set([
        ['ann', { page: 'budget' }],
        ['ann', { page: 'accounts', principal: 'ben' }],
      ]),
    );
    expect(new Set(seenBy(ann))).toEqual(
      new Set([
        ['ann', { page: 'accounts', principal: 'ben' }],
        ['ben', 1],
      ]),
    );
    const [one, two] = ben.presence.current as [Peer, Peer];
    expect(one).toMatchObject({ name: 'ann of the tests', siteId: two.siteId });
    expect(one.tabId).not.toBe(two.tabId);
    second.kill();
    await until(() => seenBy(ben).length === 1);
    ann.presence.set(null);
    await until(() => seenBy(ben).length === 0);
  });

  it('survives the death of the leader, because every tab sends its state to the next leader', async () => {
    const databaseId = newId();
    const [anns, bens] = [await deviceOf('ann', databaseId), await deviceOf('ben', databaseId)];
    const leading = await openBeside(anns);
    const next = await open(anns);
    const ben = await open(bens);
    ben.presence.subscribe(() => undefined);
    leading.client.presence.set('leads');
    next.presence.set('follows');
    next.presence.subscribe(() => undefined);
    ben.presence.set('looks on');
    await until(() => seenBy(ben).length === 2);
    leading.kill();
    await until(() => seenBy(ben).length === 1 && seenBy(next).some(([, state]) => state === 'looks on'));
    expect(seenBy(ben)).toEqual([['ann', 'follows']]);
  });

  it('is empty while sync is paused, and complete again after it resumes', async () => {
    const databaseId = newId();
    const ann = await open(await deviceOf('ann', databaseId));
    const ben = await open(await deviceOf('ben', databaseId));
    ann.presence.subscribe(() => undefined);
    ben.presence.set('here');
    await until(() => seenBy(ann).length === 1);
    await ann.sync.pause();
    await until(() => seenBy(ann).length === 0);
    await ann.sync.resume();
    await expect.poll(() => seenBy(ann)).toEqual([['ben', 'here']]);
  });
});

describe('the awareness of an open document', () => {
  it('shows the cursors of others in the local text', async () => {
    const databaseId = newId();
    const ann = await open(await deviceOf('ann', databaseId));
    const ben = await open(await deviceOf('ben', databaseId));
    await ann.execute(sql`INSERT INTO note VALUES ('n', '{"body":"low tide"}')`);
    await until(async () => (await ben.query('SELECT 1 FROM note')).length === 1);
    const [mine, theirs] = [await ann.document('note', ['n'], 'content'), await ben.document('note', ['n'], 'content')];
    const textOf = (doc: Y.Doc): Y.Text => (doc.getMap('json').get('value') as Y.Map<unknown>).get('body') as Y.Text;
    const text = textOf(theirs.doc);
    text.insert(4, 'spring ');
    const at = Y.createRelativePositionFromTypeIndex(text, 11);
    theirs.awareness.setLocalStateField('cursor', { anchor: at, head: at });
    const seen = (): unknown => {
      const [, state] = [...mine.awareness.getStates()].find(([id]) => id !== mine.awareness.clientID) ?? [];
      const cursor = state?.['cursor'] as { head: Y.RelativePosition } | null | undefined;
      return cursor === null || cursor === undefined
        ? null
        : [
            (state?.['user'] as { name: string } | undefined)?.name,
            Y.createAbsolutePositionFromRelativePosition(cursor.head, mine.doc)?.index,
            textOf(mine.doc).toJSON(),
          ];
    };
    await expect.poll(seen).toEqual(['ben of the tests', 11, 'low spring tide']);
    textOf(mine.doc).insert(0, 'a ');
    await expect.poll(seen).toEqual(['ben of the tests', 13, 'a low spring tide']);
    await Promise.all([mine.close(), theirs.close()]);
  });
});
