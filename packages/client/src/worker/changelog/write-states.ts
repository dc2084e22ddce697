import { RockpoolError } from '@rockpool/shared';
import type { WriteState } from '../../rpc/write-state.ts';
import type { Connection } from '../sqlite/connection.ts';
import { requestKey } from './request-key.ts';

const WRITE_STATE_SQL = `
  SELECT request.sequence, request.sequence > (SELECT coalesce(max(up_to), 0) FROM rockpool_decided), rejected.code, rejected.fields_json
  FROM (SELECT sequence FROM rockpool_request WHERE id = ?) AS request
  LEFT JOIN rockpool_parked AS rejected ON rejected.sequence = request.sequence`;

/** The states of the writes with these request ids. A read-only connection suffices. */
export function writeStates(connection: Connection, requestIds: readonly string[]): WriteState[] {
  return requestIds.map((id) => {
    const [row] = connection.rows(WRITE_STATE_SQL, requestKey(id));
    if (row === undefined) return { state: 'unknown' };
    const [sequence, isPending, code, fieldsJson] = row as [number | null, number, string | null, string | null];
    if (sequence === null) return { state: 'admitted' };
    if (isPending === 1) return { state: 'pending' };
    return code === null
      ? { state: 'admitted' }
      : {
          state: 'rejected',
          error: RockpoolError.fromData({ code, fields: JSON.parse(fieldsJson ?? '{}') as unknown }).toData(),
        };
  });
}
