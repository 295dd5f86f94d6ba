import { useState } from 'react';
import { useChange } from '../kernel/change.ts';
import { api, bodyOf, type Schemas } from '../kernel/client.ts';
import { EMAIL_ADDRESS_MAX_LENGTH } from '../kernel/contract.ts';
import { plain } from '../kernel/said.ts';
import { isAtLeast, type Role, ROLES } from '../kernel/roles.ts';
import { useSession } from '../kernel/session.tsx';
import { Choices, Field } from '../kit/field.tsx';
import { FormDialog } from '../kit/form-dialog.tsx';
import { Said } from '../kit/kit.tsx';
import kit from '../kit/kit.module.css';
import { leaveFor, mayLeave } from '../shell/leaving.ts';
import { KeysToKeep, useKeysOf } from './keys-to-keep.tsx';
import { linesOf, rolesToGive } from './member-rights.ts';

type Membership = Schemas['Membership'];

interface DialogProps {
  /** Called with a sentence that says what has happened. */
  readonly onDone: (said: string) => void;
  readonly onClose: () => void;
}

const useLooker = () => {
  const { me } = useSession();
  return { role: me.membership.role, membership: me.membership.id };
};

const nameOf = ({ email, user }: Membership): string => plain(email ?? user);

/** Invites somebody by a mail whose link works for seven days; or sends an invited person a new link. */
export const Invite = ({ again, onDone, onClose }: DialogProps & { readonly again: Membership | null }) => {
  const roles = rolesToGive(useLooker());
  const [email, setEmail] = useState(again?.email ?? '');
  const [role, setRole] = useState<Role>(again?.role ?? 'viewer');
  const invite = useChange(
    (body: { readonly email: string; readonly role: Role }, key) =>
      bodyOf(api.POST('/v1/org/members', { params: { header: { 'Idempotency-Key': key } }, body })),
    (member) => onDone(`${nameOf(member)} is invited. The link in the mail works for seven days.`),
  );
  return (
    <FormDialog
      title={again === null ? 'Invite person' : 'Invite again'}
      action="Send invitation"
      busy="Sending …"
      isPending={invite.isPending}
      isReady={email.trim() !== ''}
      error={invite.error}
      params={['email', 'role']}
      onSubmit={() => invite.mutate({ email: email.trim(), role })}
      onClose={onClose}
    >
      <Field
        label="E-mail address"
        param="email"
        error={invite.error}
        hint={again === null ? 'The link works for seven days.' : 'The earlier link stops working.'}
      >
        {(control) => (
          <input
            {...control}
            type="email"
            autoComplete="off"
            autoCapitalize="none"
            spellCheck={false}
            maxLength={EMAIL_ADDRESS_MAX_LENGTH}
            readOnly={again !== null}
            data-first={again === null ? '' : undefined}
            value={email}
            onChange={({ target }) => setEmail(target.value)}
          />
        )}
      </Field>
      <RoleChoice roles={roles} chosen={role} onChoose={setRole} />
    </FormDialog>
  );
};

const RoleChoice = ({
  roles,
  chosen,
  onChoose,
}: {
  readonly roles: readonly Role[];
  readonly chosen: Role;
  readonly onChoose: (role: Role) => void;
}) => (
  <Choices legend="Role" chosen={chosen} onChoose={onChoose} of={roles.map((value) => ({ value, ...ROLES[value] }))} />
);

/** For owners: changes a member's role, and the references by which calls name this person. */
export const ChangeMember = ({ member, onDone, onClose }: DialogProps & { readonly member: Membership }) => {
  const roles = rolesToGive(useLooker());
  const [role, setRole] = useState(member.role);
  const [references, setReferences] = useState(member.references.join('\n'));
  const change = useChange(
    (body: Schemas['ChangeMember']) =>
      bodyOf(api.PATCH('/v1/org/members/{id}', { params: { path: { id: member.id } }, body })),
    (changed) => onDone(`${nameOf(changed)} was saved with the role ${ROLES[changed.role].name.toLowerCase()}.`),
  );
  const [kept, setKept] = useState<readonly string[]>([]);
  const keys = useKeysOf(member);
  const changes = {
    ...(role === member.role ? {} : { role, ...(isAtLeast(role, 'admin') ? {} : { keep_keys: [...kept] }) }),
    ...(isSame(linesOf(references), member.references) ? {} : { references: [...linesOf(references)] }),
  };
  return (
    <FormDialog
      title={`Change ${nameOf(member)}`}
      action="Save member"
      busy="Saving …"
      isPending={change.isPending}
      isReady={Object.keys(changes).length > 0}
      error={change.error}
      params={['references']}
      onSubmit={() => change.mutate(changes)}
      onClose={onClose}
    >
      <RoleChoice roles={roles} chosen={role} onChoose={setRole} />
      {isAtLeast(role, 'admin') ? null : <KeysToKeep keys={keys} kept={kept} onKeep={setKept} />}
      <Field
        label="References, one per line"
        param="references"
        error={change.error}
        hint="Values of Service-On-Behalf-Of that mean this person. This person cannot approve calls made on their own behalf."
      >
        {(control) => (
          <textarea
            {...control}
            rows={2}
            spellCheck={false}
            value={references}
            onChange={({ target }) => setReferences(target.value)}
          />
        )}
      </Field>
    </FormDialog>
  );
};

const isSame = (one: readonly string[], other: readonly string[]): boolean => one.join('\n') === other.join('\n');

/** Removes a member, withdraws an invitation, or leaves the organization. Says what ends with that before the press. */
export const RemoveMember = ({ member, onDone, onClose }: DialogProps & { readonly member: Membership }) => {
  const isMe = member.id === useLooker().membership;
  const [kept, setKept] = useState<readonly string[]>([]);
  const keys = useKeysOf(member);
  const remove = useChange(
    (id: string) =>
      bodyOf(api.DELETE('/v1/org/members/{id}', { params: { path: { id }, query: { 'keep_keys[]': [...kept] } } })),
    () => {
      // A person who has left has no session in this organization any more.
      if (isMe) leaveFor('/login');
      else onDone(`${nameOf(member)} is ${member.status === 'invited' ? 'no longer invited' : 'removed'}.`);
    },
  );
  const [title, action, words] = isMe
    ? [
        'Leave organization',
        'Leave',
        'You are signed out of this organization immediately. To return, you need a new invitation.',
      ]
    : member.status === 'invited'
      ? ['Withdraw invitation', 'Withdraw invitation', 'The link in the mail stops working.']
      : [
          'Remove member',
          'Remove',
          'All sessions of this person in this organization end immediately, and their signatures on waiting approvals no longer count.',
        ];
  return (
    <FormDialog
      title={title}
      action={isMe ? action : `${action} of ${nameOf(member)}`.replace(/^Remove of/, 'Remove')}
      busy="Sending …"
      kind="stop"
      isPending={remove.isPending}
      error={remove.error}
      onSubmit={() => {
        if (!isMe || mayLeave()) remove.mutate(member.id);
      }}
      onClose={onClose}
    >
      <p>
        <Said text={member.email ?? member.user} /> <span className={kit['dim']}>({ROLES[member.role].name})</span>
      </p>
      <p>{words}</p>
      <KeysToKeep keys={keys} kept={kept} onKeep={setKept} />
    </FormDialog>
  );
};
