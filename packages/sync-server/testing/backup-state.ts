import type { TestServer } from './test-server.ts';

/** Resolves once the continuous backup of a server has every commit. */
export async function copied(server: TestServer): Promise<void> {
  for (;;) {
    const { backup } = (await (await server.ask('GET', '/ready')).json()) as {
      readonly backup: { readonly pending: number } | null;
    };
    if (backup?.pending === 0) return;
    // Asking without a pause would take the processor from the copy.
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
