import { RockpoolError } from '@rockpool/shared';

/** Short, because the failed call waits for this request, and a server that lacks the script may not answer. */
const LOOK_WITHIN_MS = 5_000;

/** The guide's section on bundlers. */
const HELP = 'docs/guides/client.md#bundlers';

/**
 * Browsers report only that a worker failed to load. To find the reason, this requests the script again. The script is
 * missing (`status`); the server sends something else, such as the app's page for every path (`contentType`); or the
 * script exists, and the cause is a policy of the page, one of its imports or its syntax.
 */
export async function whyUnloadable(url: string): Promise<RockpoolError> {
  const failed = (problem: string, fields: Readonly<Record<string, string | number>> = {}): RockpoolError =>
    new RockpoolError('worker-unloadable', { url, problem, ...fields, help: HELP });
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(LOOK_WITHIN_MS) });
    await response.body?.cancel();
    if (!response.ok) return failed('no script found at this address', { status: response.status });
    const [contentType = ''] = (response.headers.get('content-type') ?? '').split(';');
    if (!/javascript|ecmascript/i.test(contentType)) return failed('the response is not a script', { contentType });
    return failed(
      'the script exists, but a Content-Security-Policy (worker-src) blocks it, one of its imports fails, or it is not a module',
    );
  } catch {
    return failed('the address is unreachable from this page');
  }
}
