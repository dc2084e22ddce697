/** Client to server after a silence; the server answers at once. Browsers give a page no WebSocket ping of its own. */
export interface Ping {
  readonly type: 'ping';
}

export interface Pong {
  readonly type: 'pong';
}
