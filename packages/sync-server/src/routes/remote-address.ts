import type { Context } from 'hono';

/** Undefined if the host does not run Hono with `@hono/node-server`. */
export function remoteAddress({ env }: Context): string | undefined {
  return (env as { readonly incoming?: { readonly socket?: { readonly remoteAddress?: string } } } | undefined)
    ?.incoming?.socket?.remoteAddress;
}
