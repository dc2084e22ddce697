import { RockpoolError } from '@rockpool/shared';

/** The page waits for nothing else, and a server that gave no script may give no answer. */
const LOOK_WITHIN_MS = 5_000;

/** Where the guide says what bundlers have to know. */
const HELP = 'docs/guides/client.md#bundlers';

/**
 * The browser says only that a worker could not be loaded. This asks for its script once more, to say why: there is
 * none (`status`), something else is in its place, such as the page of an app that answers every path (`contentType`),
 * or it is there, and a policy of the page, one of its imports or its syntax is at fault.
 */
export async function whyUnloadable(url: string): Promise<RockpoolError> {
  const failed = (problem: string, fields: Readonly<Record<string, string | number>> = {}): RockpoolError =>
    new RockpoolError('worker-unloadable', { url, problem, ...fields, help: HELP });
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(LOOK_WITHIN_MS) });
    await response.body?.cancel();
    if (!response.ok) return failed('there is no script at this address', { status: response.status });
    const [contentType = ''] = (response.headers.get('content-type') ?? '').split(';');
    if (!/javascript|ecmascript/i.test(contentType))
      return failed('what is at this address is no script', { contentType });
    return failed(
      'the script is there: a Content-Security-Policy (worker-src) refuses it, an import of it fails, or it is not a module',
    );
  } catch {
    return failed('its address cannot be reached from this page');
  }
}
