import type { TestServer } from './test-server.ts';

export const ADMIN_TOKEN = 'operator-0123456789-abcdefghijklmnop';

export interface AdminAnswer<Body> {
  readonly status: number;
  /** The body, typed as the caller expects it; null if the response has none. */
  readonly body: Body;
}

/** Sends a request to the admin API as the operator. Bodies that are not bytes are sent as JSON. */
export async function askAdmin<Body = unknown>(
  server: TestServer,
  method: string,
  path: string,
  { token = ADMIN_TOKEN, body }: { readonly token?: string; readonly body?: unknown } = {},
): Promise<AdminAnswer<Body>> {
  const response = await server.ask(method, `/admin/api${path}`, {
    token,
    ...(body !== undefined && { body: body instanceof Uint8Array ? new Uint8Array(body) : JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, body: (text === '' ? null : JSON.parse(text)) as Body };
}
