import { useState, type ReactNode } from 'react';
import type { Budget, BudgetRole } from '../budget/budget.ts';
import { useTask } from '../shell/failure.tsx';
import { CopyLink } from './copy-link.tsx';
import { invitationLink, invite } from './members.ts';
import { roleWords } from './role-words.ts';

/** Creates a link that admits one person in the chosen role. */
export function InviteCard({ budget }: { readonly budget: Budget }): ReactNode {
  const run = useTask();
  const [role, setRole] = useState<BudgetRole>('editor');
  const [invitation, setInvitation] = useState<{ readonly role: BudgetRole; readonly link: string } | null>(null);
  const create = async (): Promise<void> => {
    setInvitation(null);
    const link = invitationLink(await invite(budget, role));
    setInvitation({ role, link });
  };
  return (
    <section className="card form">
      <h2>Invite someone</h2>
      <div className="invite">
        <label>
          As
          <select
            value={role}
            onChange={(event) => {
              setRole(event.target.value as BudgetRole);
              setInvitation(null);
            }}
          >
            {Object.entries(roleWords).map(([value, { title }]) => (
              <option key={value} value={value}>
                {title}
              </option>
            ))}
          </select>
        </label>
        <button type="button" className="primary" onClick={() => run(create)}>
          Create link
        </button>
      </div>
      <p className="hint" role="status">
        {roleWords[role].title}: {roleWords[role].may}.
      </p>
      {/* The role may have been changed before the server responded. */}
      {invitation?.role === role && (
        <CopyLink label="Invitation" link={invitation.link} hint="It works once and expires in a week." />
      )}
    </section>
  );
}
