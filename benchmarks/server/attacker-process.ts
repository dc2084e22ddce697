// One attack, in a process of its own, until the process is killed. Usage: node attacker-process.ts ATTACK PORT
// DATABASE. Prints `ready` when the attack begins.
import {
  columnIdOf,
  encodeChangesetBody,
  tableIdOf,
  type CellValue,
  type ChangeGroup,
} from '../../packages/shared/src/index.ts';
import { insert, remove } from '../../packages/sync-server/testing/changeset.ts';
import { TestSite, type TestConnection } from '../../packages/sync-server/testing/test-client.ts';
import type { AttackName } from './attacks.ts';
import { openConnection } from './server-process.ts';

const CHANGESET_ROWS = 131_000;
const VIEWED_ROWS = 100_000;
const CHILDREN = 30_000;

const [attack, portText, databaseId] = process.argv.slice(2) as [AttackName, string, string];
const port = Number(portText);

function rows(
  name: string,
  prefix: string,
  count: number,
  columns: Readonly<Record<string, CellValue>> | null,
): Uint8Array {
  const group: ChangeGroup = {
    tableId: tableIdOf(name),
    kind: columns === null ? 'delete' : 'insert',
    rowCount: count,
    keys: [Array.from({ length: count }, (_, i) => `${prefix}${i}`)],
    columnIds: Object.keys(columns ?? {}).map(columnIdOf),
    values: Object.values(columns ?? {}).map((value) => new Array<CellValue>(count).fill(value)),
  };
  return encodeChangesetBody({ atomic: false, groups: [group], cellBases: [] });
}

function entry(accountId: string | null): Readonly<Record<string, CellValue>> {
  return { account_id: accountId, amount: 1n, note: 'a note', weight: null, receipt: null };
}

async function push(connection: TestConnection, body: Uint8Array, base?: number): Promise<void> {
  const { sequence } = connection.site.writeBody(body, base === undefined ? {} : { base });
  connection.push(sequence);
  const outcome = (await connection.decided(sequence)).outcomes.at(-1);
  if (outcome?.kind !== 'admitted')
    throw new Error(`the server did not admit the changeset: ${JSON.stringify(outcome)}`);
  connection.confirm();
}

const ATTACKS: Readonly<Record<AttackName, (connection: TestConnection) => Promise<() => Promise<void>>>> = {
  changesets: async (connection) => {
    const body = rows('accounts', 'k', CHANGESET_ROWS, null);
    return () => push(connection, body);
  },
  viewer: async (connection) => {
    await push(connection, rows('entries', 'k', VIEWED_ROWS, entry(null)));
    await connection.close();
    return async () => {
      const viewer = await openConnection(port, databaseId, new TestSite());
      viewer.cut();
    };
  },
  cascade: async (connection) => {
    let round = 0;
    return async () => {
      const parent = `p${round++}`;
      const { sequence } = connection.site.write([insert('accounts', parent, { name: parent })]);
      connection.push(sequence);
      await connection.decided(sequence);
      await push(connection, rows('entries', `${parent}-`, CHILDREN, entry(parent)));
      // The delete claims not to have seen the children.
      const author = await openConnection(port, databaseId);
      const deletion = author.site.write([remove('accounts', parent)], { base: 0 });
      author.push(deletion.sequence);
      await author.decided(deletion.sequence);
      author.cut();
      await connection.delivery();
    };
  },
};

const step = await ATTACKS[attack](await openConnection(port, databaseId));
process.stdout.write('ready\n');
let steps = 0;
process.once('SIGTERM', () => {
  process.stdout.write(`steps ${steps}\n`, () => process.exit(0));
});
for (;;) {
  await step();
  steps++;
}
