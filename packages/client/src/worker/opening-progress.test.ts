import { buildSchema, tableToDdl } from '@rockpool/shared';
import { expect, it } from 'vitest';
import { MEMORY_OPTIONS, memoryHost } from '../../testing/worker/memory-host.ts';
import { account } from '../../testing/worker/test-database.ts';
import { ProcessTabs } from '../node/process-tabs.ts';
import type { TabApi } from '../rpc/worker-api.ts';

const TAB = { onEvent: async () => undefined, token: async () => '' } as unknown as TabApi;

/** The number of messages to waiting tabs before this tab announces itself as the leader. */
async function signsBeforeLeading(statements: readonly string[]): Promise<number> {
  const tabs = new ProcessTabs();
  const sent: string[] = [];
  const host = memoryHost({
    openPort: (channelName) => {
      const port = tabs.openPort(channelName);
      return {
        ...port,
        postMessage: (data) => void sent.push((data as { readonly message: { readonly kind: string } }).message.kind),
      };
    },
  });
  const sql = statements.join('\n--> statement-breakpoint\n');
  await host.open({ ...MEMORY_OPTIONS, migrations: [{ tag: '0000_first', sql }] }, TAB);
  await host.close();
  return sent.slice(0, sent.indexOf('leader')).filter((kind) => kind === 'first-sync').length;
}

it('a tab that runs migrations gives waiting tabs a sign after each statement', async () => {
  const ddl = buildSchema([account]).tables.flatMap(tableToDdl);
  const signs = await signsBeforeLeading(ddl);
  expect(signs).toBeGreaterThan(ddl.length);
  expect(await signsBeforeLeading([...ddl, 'CREATE TABLE "a" ("x")', 'CREATE TABLE "b" ("x")'])).toBe(signs + 2);
});
