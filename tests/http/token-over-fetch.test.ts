import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it } from 'vitest';
import type { TokenAnswer } from '#client/interface/client-options.ts';
import { createTokenSource } from '#client/tab/token-source.ts';

it('a token request reports an unreachable network if there is no server or the response is truncated', async () => {
  const told: unknown[] = [];
  const session = { onProblem: (error: unknown) => void told.push(error), beforeClose: () => undefined };
  const asked = (token: () => Promise<TokenAnswer>): Promise<unknown> =>
    createTokenSource({ token }, session)().catch((thrown: unknown) => thrown);
  const unreachable = { code: 'network-unreachable', fields: { stage: 'token' } };
  const server = createServer((_, answer) => {
    answer.writeHead(200, { 'content-length': '100' });
    answer.write('eyJh', () => answer.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  for (const token of [() => fetch(address), async () => (await fetch(address)).text()])
    expect(await asked(token)).toMatchObject(unreachable);
  await new Promise((resolve) => server.close(resolve));
  expect(await asked(() => fetch(address))).toMatchObject(unreachable);
  expect(told).toEqual([]);
});
