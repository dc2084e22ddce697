import { describe, expect, it } from 'vitest';
import type { InstanceDirectory } from '../postgres/instance-directory.ts';
import { SessionForwarding } from './session-forwarding.ts';

/** A directory that answers when a test calls `answer`. */
class SlowDirectory implements InstanceDirectory {
  readonly entered: string[] = [];
  readonly reads: ((urls: ReadonlyMap<string, string>) => void)[] = [];
  private readonly entries: (() => void)[] = [];

  enter(instance: string): Promise<void> {
    this.entered.push(instance);
    return new Promise((resolve) => this.entries.push(resolve));
  }

  urls(): Promise<ReadonlyMap<string, string>> {
    return new Promise((resolve) => this.reads.push(resolve));
  }

  async leave(): Promise<void> {}

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

  it('that open sessions share a registration of the instance', async () => {
    const directory = new SlowDirectory();
    const forwarding = new SessionForwarding({ directory, ownUrl: () => 'http://here', now: Date.now });
    const entering = [forwarding.enter(), forwarding.enter()];
    await settled();
    directory.answer();
    await Promise.all(entering);
    await forwarding.enter();
    expect(directory.entered).toEqual([forwarding.instance]);
  });
});
