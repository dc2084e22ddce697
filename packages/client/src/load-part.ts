import { RockpoolError } from '@rockpool/shared';

/** Code that is loaded on first use. */
export type CodePart =
  | 'documents'
  | 'history'
  | 'http'
  | 'indexeddb'
  | 'migrations'
  | 'changelog'
  | 'quarantine'
  | 'restore'
  | 'schema'
  | 'snapshot'
  | 'token'
  | 'warm-up'
  | 'worker';

let attempts = 0;

/**
 * Loads a part of the code. Throws `code-unloadable`; the next call tries again. Browsers may remember for the life of
 * the page or worker that an address failed, so the second attempt adds a query to the address in the browser's error.
 */
export function loadPart<Part>(part: CodePart, load: () => Promise<Part>): Promise<Part> {
  return load()
    .catch((thrown: unknown) => {
      // Chromium and Firefox end their messages with the address. Safari omits it.
      const [, url] = /module: (\S+)$/.exec(String(thrown)) ?? [];
      if (url === undefined) throw thrown;
      const separator = url.includes('?') ? '&' : '?';
      return import(/* @vite-ignore */ /* webpackIgnore: true */ `${url}${separator}again=${++attempts}`);
    })
    .catch((cause: unknown) => {
      throw new RockpoolError('code-unloadable', { part }, { cause });
    });
}
