import { RockpoolError } from '@rockpool/shared';
import type { Client } from '../client.ts';

/** How a branch ended. */
export type EndOfBranch = 'merge' | 'discard';

/**
 * Returns the client's members. Their calls fail with `branch-ended` once the branch has ended. `live` has the error of
 * a closed client instead: it is called while a page renders, where a throw would unmount the page.
 */
export function guardedCalls(client: Client, ended: () => EndOfBranch | null, branch: string): Client {
  const guarded = Object.entries(client).map(([name, member]: [string, unknown]) => {
    if (typeof member !== 'function') return [name, member];
    return [
      name,
      (...given: unknown[]): unknown => {
        const by = ended();
        if (by === null || name === 'live') return (member as (...params: unknown[]) => unknown)(...given);
        const error = new RockpoolError('branch-ended', { branch, by });
        if (name === 'stream') throw error;
        return rejectedWrite(error);
      },
    ];
  });
  return Object.fromEntries(guarded) as Client;
}

/** Returns a rejected write, also for calls that return a plain promise. */
function rejectedWrite(error: RockpoolError): Promise<never> & { readonly synced: Promise<never> } {
  const synced = Promise.reject<never>(error);
  synced.catch(() => undefined); // Few apps use `synced`, so its rejection must not be reported as unhandled.
  return Object.assign(Promise.reject<never>(error), { synced });
}
