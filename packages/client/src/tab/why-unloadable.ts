import { RockpoolError, type ErrorFields } from '@rockpool/shared';

/** Short, because the failed call waits for it, and a server that lacks the script may not answer. */
const LOOK_WITHIN_MS = 5_000;

/** Pauses before further attempts, in ms: a change of the network, or a restart of the app's server, takes as long. */
const PAUSES_MS = [250, 1_000];

/** The guide's section on bundlers. */
const HELP = 'docs/guides/client.md#bundlers';

/** A server answers with these, and with 5xx, when a later request may succeed. */
const TEMPORARY_STATUS: readonly number[] = [408, 425, 429];

/**
 * Browsers report only that a worker failed to load. To find the reason, this requests the script again, and starts it
 * in another worker if it exists.
 *
 * - `code-unloadable`: the script is out of reach, also after two pauses; or it loads now, which the field `loadsNow`
 *   says
 * - `worker-unloadable`: there is no script (`status`); the server sends something else, such as the app's page for
 *   every path (`contentType`); a policy of the page refuses the worker; or an import or the syntax of the script fails
 */
export async function whyUnloadable(url: string): Promise<RockpoolError> {
  let found = await look(url);
  for (const pauseMs of PAUSES_MS) {
    if (!found.mayPass) break;
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
    found = await look(url);
  }
  return found.error;
}

interface Found {
  readonly error: RockpoolError;
  /** Whether the next look may find something else. */
  readonly mayPass: boolean;
}

async function look(url: string): Promise<Found> {
  const unreachable = (fields: ErrorFields, mayPass = true): Found => ({
    error: new RockpoolError('code-unloadable', { part: 'worker', url, ...fields }),
    mayPass,
  });
  const failed = (problem: string, fields: ErrorFields = {}, mayPass = false): Found => ({
    error: new RockpoolError('worker-unloadable', { url, problem, ...fields, help: HELP }),
    mayPass,
  });
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(LOOK_WITHIN_MS) });
    await response.body?.cancel();
    const { ok, status, headers } = response;
    if (status >= 500 || TEMPORARY_STATUS.includes(status))
      return unreachable({ problem: 'the server is unavailable', status });
    if (!ok) return failed('no script found at this address', { status });
    const [contentType = ''] = (headers.get('content-type') ?? '').split(';');
    if (!/javascript|ecmascript/i.test(contentType)) return failed('the response is not a script', { contentType });
  } catch {
    return unreachable({ problem: 'the address is unreachable from this page' });
  }
  const outcome = await startAnother(url);
  if (outcome === 'loaded') return unreachable({ problem: 'the script failed to load once', loadsNow: true }, false);
  if (outcome === 'refused') return failed('a Content-Security-Policy of the page (worker-src) blocks the script');
  const problem =
    'the script exists, but one of its imports fails, it is not a module, or a policy of the page blocks it';
  return failed(problem, {}, true);
}

/** Starts the script in another worker, and ends that worker. */
async function startAnother(url: string): Promise<'loaded' | 'refused' | 'failed'> {
  let isRefused = false;
  // The name of the directive, also if the policy has only `script-src` or `default-src`.
  const onViolation = ({ effectiveDirective }: SecurityPolicyViolationEvent): void => {
    isRefused ||= effectiveDirective === 'worker-src';
  };
  document.addEventListener('securitypolicyviolation', onViolation);
  const outcome = Promise.withResolvers<boolean>();
  let worker: Worker | undefined;
  // A script that neither fails nor answers has loaded; the deadline of the connection applies to it.
  const timer = setTimeout(() => outcome.resolve(true), LOOK_WITHIN_MS);
  try {
    worker = new Worker(url, { type: 'module', name: 'rockpool-probe' });
    worker.addEventListener('message', () => outcome.resolve(true));
    // An ErrorEvent comes from a script that runs.
    worker.addEventListener('error', (event) => {
      event.preventDefault();
      outcome.resolve(event instanceof ErrorEvent);
    });
    // A ping, as Comlink encodes it.
    worker.postMessage({ id: 'probe', type: 'APPLY', path: ['ping'], argumentList: [] });
    if (await outcome.promise) return 'loaded';
    await new Promise((resolve) => setTimeout(resolve)); // The violation may be reported after the error.
    return isRefused ? 'refused' : 'failed';
  } catch {
    return 'refused'; // Some browsers refuse in the constructor.
  } finally {
    clearTimeout(timer);
    worker?.terminate();
    document.removeEventListener('securitypolicyviolation', onViolation);
  }
}
