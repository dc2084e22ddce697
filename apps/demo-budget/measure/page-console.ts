import type { SqlParam } from '@rockpool/client';

/** What a measured page exposes: the app's client, and a function that waits for the next paint. */
export interface Console {
  readonly rockpool: {
    batch(statements: readonly { readonly sql: string; readonly params: readonly SqlParam[] }[]): Promise<unknown>;
    execute(sql: string): Promise<unknown>;
    query(sql: string, params: readonly SqlParam[]): Promise<unknown>;
    readonly sync: { pause(): Promise<void> };
  };
  /** Resolves to the time when the frame with the page's current content is painted. */
  painted(): Promise<number>;
}

export const paintedScript = `globalThis.painted = () => new Promise((resolve) => requestAnimationFrame(() => {
  const { port1, port2 } = new MessageChannel();
  port1.onmessage = () => resolve(performance.now());
  port2.postMessage(null);
}));`;
