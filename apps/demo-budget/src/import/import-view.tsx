import { useState, type ReactNode } from 'react';
import { AccountForm } from '../accounts/account-form.tsx';
import type { Budget } from '../budget/budget.ts';
import { useMayWrite } from '../budget/role.ts';
import { accountsWithBalances, type AccountRow } from '../queries/accounts.ts';
import { hashOf } from '../shell/navigation.ts';
import { useQuery } from '../shell/use-query.ts';
import type { ChosenFile } from './chosen-file.ts';
import { FileStep } from './file-step.tsx';
import { ReviewStep } from './review-step.tsx';

/** Imports a bank statement: choose a file, review the detected format, correct it, import. */
export function ImportView({ budget, accountId }: { readonly budget: Budget; readonly accountId: string }): ReactNode {
  const accounts = useQuery<AccountRow>(accountsWithBalances);
  const mayWrite = useMayWrite();
  const [file, setFile] = useState<ChosenFile | null>(null);
  const account = accounts.rows.find((candidate) => candidate.id === accountId) ?? accounts.rows[0];
  const goTo = (id: string | null): void => {
    location.hash = id === null ? hashOf(budget) : hashOf(budget, { page: 'import', accountId: id });
  };

  if (accounts.loading) return null;
  if (!mayWrite) {
    return (
      <>
        <h1>Import</h1>
        <p>Only editors and owners can import statements.</p>
      </>
    );
  }
  if (account === undefined) {
    return (
      <>
        <h1>Import</h1>
        <p>Add an account to import into.</p>
        <AccountForm onDone={goTo} />
      </>
    );
  }
  return (
    <>
      <header className="page-head">
        <h1>Import into {account.name}</h1>
        <a className="button" href={hashOf(budget, { page: 'export' })}>
          Export
        </a>
      </header>
      {file === null ? (
        <FileStep accounts={accounts.rows} accountId={account.id} onAccount={goTo} onFile={setFile} />
      ) : (
        <ReviewStep key={account.id} budget={budget} account={account} file={file} onFile={setFile} />
      )}
    </>
  );
}
