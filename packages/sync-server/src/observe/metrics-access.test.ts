import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { encodeSchema } from '@rockpool/shared';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { insert } from '../../testing/changeset.ts';
import { TEST_SCHEMA } from '../../testing/test-schema.ts';
import { serverUnderTest } from '../../testing/server-under-test.ts';
import { DATABASE, TEST_SECRET } from '../../testing/test-server.ts';
import { readServeConfig } from '../cli/config.ts';
import { serve } from '../serve.ts';
import { SERVER_VERSION } from '../sync-server.ts';
import { temporaryFolder } from '../../../../tests/kit/temporary-folder.ts';

const TOKEN = 'token-of-scrapers';

describe('metrics', () => {
  const tested = serverUnderTest({ tenantOf: () => 'household' });

  it('name no tenant without a token of their own', async () => {
    const connection = await tested.server.open();
    await connection.commit([insert('accounts', 'x', { name: 'x' })]);
    const response = await tested.server.ask('GET', '/metrics');
    const text = await response.text();
    expect(response.status).toBe(200);
    expect(text).toContain(`version="${SERVER_VERSION}"`);
    for (const name of ['rockpool_disk_free_bytes', 'rockpool_disk_size_bytes', 'rockpool_tenants'])
      expect(text).toMatch(new RegExp(`^${name} \\d`, 'm'));
    for (const name of ['household', DATABASE, 'ann']) expect(text).not.toContain(name);
  });
});

describe('metrics with a token', () => {
  const tested = serverUnderTest({ metrics: { token: TOKEN }, tenantOf: () => 'household' });

  it('require the token, and name the tenants with the largest databases', async () => {
    const connection = await tested.server.open();
    await connection.commit([insert('accounts', 'x', { name: 'x' })]);
    const status = async (token?: string): Promise<number> =>
      (await tested.server.ask('GET', '/metrics', token === undefined ? {} : { token })).status;
    expect([
      await status(),
      await status('token-of-others-0'),
      await status(await tested.server.token('owner')),
    ]).toEqual([401, 401, 401]);
    const scrape = async (): Promise<string> =>
      (await tested.server.ask('GET', '/metrics', { headers: { authorization: `Bearer ${TOKEN}` } })).text();
    // Polls, because the first scrape only starts the measurement.
    await expect.poll(scrape).toMatch(/^rockpool_tenant_bytes\{tenant="household"\} [1-9]\d+$/m);
    expect(await scrape()).toMatch(/^rockpool_tenants 1$/m);
  });
});

describe('metrics on an address of their own', () => {
  const config = (...flags: readonly string[]): ReturnType<typeof readServeConfig> => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, 'schema.json'), encodeSchema(TEST_SCHEMA));
    return readServeConfig({
      flags: [
        '--data',
        join(folder, 'data'),
        '--schema',
        join(folder, 'schema.json'),
        '--port',
        '0',
        '--threads',
        '1',
        ...flags,
      ],
      environment: { ROCKPOOL_SECRET: TEST_SECRET },
    });
  };

  it('are served there only', async () => {
    const running = await serve({ ...config('--metrics-address', '127.0.0.1:0'), log: () => undefined } as never);
    try {
      const scraped = await fetch(running.metricsUrl as string);
      expect([scraped.status, (await scraped.text()).includes('rockpool_build_info{')]).toEqual([200, true]);
      expect((await fetch(`${running.url}/metrics`)).status).toBe(404);
      expect((await fetch((running.metricsUrl as string).replace('/metrics', '/health'))).status).toBe(404);
      expect((await fetch(`${running.url}/health`)).status).toBe(200);
    } finally {
      await running.stop();
    }
    await expect(fetch(running.metricsUrl as string)).rejects.toThrow();
  });

  it('are served while the process has no free file descriptors', async () => {
    const running = await serve({ ...config('--metrics-address', '127.0.0.1:0'), log: () => undefined } as never);
    // Reads a file of the system.
    const spy = vi.spyOn(process.memoryUsage, 'rss').mockImplementation(() => {
      throw new Error('EMFILE: too many open files, uv_resident_set_memory');
    });
    onTestFinished(() => running.stop());
    onTestFinished(() => spy.mockRestore());
    const text = await (await fetch(running.metricsUrl as string)).text();
    expect(text).toMatch(/^rockpool_resident_memory_bytes NaN$/m);
    expect(text).toMatch(/^rockpool_cpu_seconds_total \d/m);
  });

  it('cannot have a token too, and need an address that can be parsed', () => {
    const file = join(temporaryFolder(), 'token');
    writeFileSync(file, `${TOKEN}\n`);
    expect(config('--metrics-token-file', file).metrics).toEqual({ token: TOKEN });
    expect(config('--metrics-address', '[::1]:9464').metricsAddress).toEqual({ host: '::1', port: 9464 });
    expect(() => config('--metrics-address', '127.0.0.1:9464', '--metrics-token-file', file)).toThrow(
      /use --metrics-address or --metrics-token-file, not both/,
    );
    expect(() => config('--metrics-address', 'here')).toThrow(/takes HOST:PORT/);
    writeFileSync(file, 'short\n');
    expect(() => config('--metrics-token-file', file)).toThrow(/at least 16 characters/);
  });
});

it('the metrics name the version of the package', () => {
  const { version } = JSON.parse(readFileSync(join(import.meta.dirname, '../../package.json'), 'utf8')) as {
    version: string;
  };
  expect(SERVER_VERSION).toBe(version);
});
