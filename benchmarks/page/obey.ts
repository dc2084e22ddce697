import type { BenchPage } from './bench-page.ts';

/**
 * For browsers without remote script execution: requests commands from the server one by one. `leave` ends the loop and
 * the page.
 */
export async function obey(pageId: string, bench: BenchPage): Promise<void> {
  for (;;) {
    const response = await fetch(`/commands/${pageId}`);
    const { name, args } = (await response.json()) as { name: keyof BenchPage | 'leave'; args: readonly unknown[] };
    const answer =
      name === 'leave'
        ? {}
        : await run(() => (bench[name] as (...rest: readonly unknown[]) => Promise<unknown>)(...args));
    await fetch(`/answers/${pageId}`, { method: 'POST', body: JSON.stringify(answer) });
    if (name === 'leave') return location.replace('about:blank');
  }
}

async function run(command: () => Promise<unknown>): Promise<{ value?: unknown; error?: string }> {
  try {
    return { value: await command() };
  } catch (error) {
    return { error: error instanceof Error ? `${error.message} ${error.stack ?? ''}` : String(error) };
  }
}
