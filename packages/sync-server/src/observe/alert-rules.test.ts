import { spawnSync, type SpawnSyncReturns } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { insert } from '../../testing/changeset.ts';
import { DEPLOY_FOLDER } from '../../testing/dockerfile.ts';
import { serverUnderTest } from '../../testing/server-under-test.ts';

const TOKEN = 'token-of-scrapers';
const RULES = join(DEPLOY_FOLDER, 'prometheus-alerts.yaml');
const CASES = fileURLToPath(new URL('../../testing/alert-rules.yaml', import.meta.url));

/**
 * Metrics that only a server with shards, or one with files, has (sharded-store.test.ts, continuous-backup.test.ts).
 */
const OF_ONE_STORE = ['rockpool_shard_ready', 'rockpool_backup_enabled'];

const promtool = (args: readonly string[], input: string = ''): SpawnSyncReturns<string> =>
  spawnSync('promtool', args, { input, encoding: 'utf8' });
const isMissing = promtool(['--version']).error !== undefined;

describe('the metrics of a server with threads', () => {
  const tested = serverUnderTest({ metrics: { token: TOKEN }, threads: 2 });
  const scrape = async (): Promise<string> => (await tested.server.ask('GET', '/metrics', { token: TOKEN })).text();

  it.each(['prometheus-alerts.yaml', 'grafana-dashboard.json'])('include every metric that %s reads', async (name) => {
    const found = [...(await scrape()).matchAll(/^# TYPE (\S+)/gm)].map(([, metric]) => metric);
    const declared = new Set([...found, ...OF_ONE_STORE]);
    const used = readFileSync(join(DEPLOY_FOLDER, name), 'utf8').match(/rockpool_[a-z0-9_]+/g) ?? [];
    expect(used.length).toBeGreaterThan(10);
    expect(used.filter((metric) => !declared.has(metric.replace(/_bucket$/, '')))).toEqual([]);
  });

  it.skipIf(isMissing)('pass `promtool check metrics`', async () => {
    const connection = await tested.server.open();
    await connection.commit([insert('accounts', 'x', { name: 'x' })]);
    const { status, stdout, stderr } = promtool(['check', 'metrics'], await scrape());
    expect({ status, stdout, stderr }).toEqual({ status: 0, stdout: '', stderr: '' });
  });
});

it.skipIf(isMissing)('have alert rules that pass `promtool check rules`', () => {
  const { status, stderr } = promtool(['check', 'rules', RULES]);
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
});

it.skipIf(isMissing)('have alert rules, each of which fires for its cause, and none for a healthy server', () => {
  const { status, stdout, stderr } = promtool(['test', 'rules', CASES]);
  expect({ status, output: stdout + stderr }).toMatchObject({ status: 0 });
});

it('have a case for each alert rule', () => {
  const namesIn = (path: string, pattern: RegExp): string[] =>
    [...readFileSync(path, 'utf8').matchAll(pattern)].map(([, name = '']) => name);
  expect(namesIn(CASES, /alertname="(\w+)"/g)).toEqual(namesIn(RULES, /alert: (\w+)/g));
});
