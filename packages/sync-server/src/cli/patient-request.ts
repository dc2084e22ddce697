import { createReadStream, statSync } from 'node:fs';
import { request as requestHttp, type IncomingMessage } from 'node:http';
import { request as requestHttps } from 'node:https';
import { pipeline } from 'node:stream/promises';

/** A silent connection is probed after this time, so a server that lost its power or network is noticed 10 s later. */
const SILENCE_MS = 10_000;

export interface PatientRequest {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The path of the file to send as the body. Default: no body. */
  readonly file?: string | undefined;
}

/**
 * Sends a request and resolves with its response. Waits as long as the connection lives: a server that copies or checks
 * a large database sends nothing until it is done, and `fetch` gives up after five minutes of silence. Rejects with the
 * error of the connection or of the file.
 */
export function patientRequest(url: string, { method, headers, file }: PatientRequest): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const request = (url.startsWith('https:') ? requestHttps : requestHttp)(url, {
      method,
      agent: false, // One connection for each request, which ends with it.
      headers: { ...headers, ...(file !== undefined && { 'content-length': statSync(file).size }) },
    });
    request.on('socket', (socket) => void socket.setKeepAlive(true, SILENCE_MS));
    // Later errors end the response or the file, which report them.
    request.on('error', reject);
    request.once('response', (response) => {
      // A server that refuses a file responds before it has received all of it.
      response.once('end', () => void request.destroy());
      resolve(response);
    });
    if (file === undefined) request.end();
    else pipeline(createReadStream(file), request).catch(reject);
  });
}
