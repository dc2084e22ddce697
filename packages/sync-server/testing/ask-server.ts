/** Sends a plain HTTP request to a server. */
export type Ask = (method: string, path: string, request?: RequestOptions) => Promise<Response>;

export interface RequestOptions {
  readonly token?: string;
  readonly body?: string | Uint8Array<ArrayBuffer>;
  readonly headers?: Readonly<Record<string, string>>;
}

export function askServer(
  host: string,
  method: string,
  path: string,
  { token, body, headers = {} }: RequestOptions = {},
): Promise<Response> {
  return fetch(`http://${host}${path}`, {
    method,
    headers: { ...headers, ...(token !== undefined && { authorization: `Bearer ${token}` }) },
    ...(body !== undefined && { body }),
  });
}
