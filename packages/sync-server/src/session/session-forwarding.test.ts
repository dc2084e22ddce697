import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import type { InstanceDirectory } from '../postgres/instance-directory.ts';
import { SessionForwarding } from './session-forwarding.ts';

/** A directory that answers when a test calls `answer`. */
class SlowDirectory implements InstanceDirectory {
  readonly entered: string[] = [];
  readonly left: string[] = [];
  readonly reads: ((urls: ReadonlyMap<string, string>) => void)[] = [];
  private readonly entries: (() => void)[] = [];

  enter(instance: string): Promise<void> {
    this.entered.push(instance);
    return new Promise((resolve) => this.entries.push(resolve));
  }

  urls(): Promise<ReadonlyMap<string, string>> {
    return new Promise((resolve) => this.reads.push(resolve));
  }

  async leave(instance: string): Promise<void> {
    this.left.push(instance);
  }

  answer(): void {
    for (const entry of this.entries.splice(0)) entry();
    for (const read of this.reads) read(new Map());
  }
}

const request = (): Request => new Request('http://here/sessions/x', { method: 'POST' });
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('requests without a token', () => {
  it('for sessions of unknown instances read the directory of instances one after another', async () => {
    const directory = new SlowDirectory();
    const forwarding = new SessionForwarding({ directory, ownUrl: () => null, now: Date.now });
    const forward = (id: string): Promise<unknown> =>
      forwarding.forward(id, request()).catch((error: unknown) => error);
    const first = forward('a.x');
    await settled();
    const others = ['b.x', 'c.x', '\0.x'].map(forward);
    await settled();
    expect(directory.reads).toHaveLength(1);
    directory.answer();
    expect(await first).toMatchObject({ code: 'request-invalid' });
    await settled();
    expect(directory.reads).toHaveLength(2);
    directory.answer();
    for (const other of others) expect(await other).toMatchObject({ code: 'request-invalid' });
    expect(directory.reads).toHaveLength(2);
  });

  it('are not forwarded again if another instance has forwarded them', async () => {
    const requests: string[] = [];
    const there = createServer((request, response) => {
      requests.push(`${request.method} ${request.url}`);
      response.end('there');
    });
    await new Promise<void>((resolve) => void there.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(there.address() as AddressInfo).port}`;
    const directory = { enter: async () => {}, leave: async () => {}, urls: async () => new Map([['a', url]]) };
    const first = new SessionForwarding({ directory, ownUrl: () => null, now: Date.now });
    expect(await (await first.forward('a.x', request())).text()).toBe('there');
    const forwarded = new Request(request(), { headers: { 'rockpool-forwarded': 'b' } });
    await expect(first.forward('a.x', forwarded)).rejects.toMatchObject({ code: 'request-invalid' });
    expect(requests).toEqual(['POST /sessions/a.x']);
    there.close();
  });

  it('that open sessions share a registration of the instance, which ends with it', async () => {
    const directory = new SlowDirectory();
    const forwarding = new SessionForwarding({ directory, ownUrl: () => 'http://here', now: Date.now });
    const entering = [forwarding.enter(), forwarding.enter()];
    await settled();
    directory.answer();
    await Promise.all(entering);
    await forwarding.enter();
    expect(directory.entered).toEqual([forwarding.instance]);
    await forwarding.close();
    expect(directory.left).toEqual([forwarding.instance]);
  });
});
