import type { Command } from 'commander';
import { timestampOf } from '#libs/domain/kernel';
import { withDeployment, withExamples, type CommandContext, type JsonOption } from '../command-context.js';
import { present } from '../terminal.js';

/** `ags mail`: what waits to be sent. */
export const registerMailCommands = (program: Command, context: CommandContext): void => {
  const mail = program
    .command('mail')
    .description('Mails of the service: sign-in links and invitations.')
    .summary('show the mails that wait');
  withExamples(mail, 'npm run ags -- mail outbox');
  withExamples(
    mail
      .command('outbox')
      .description(
        'Shows the mails that were not handed to a mail server: all of them where SMTP_URL is not set. Their links and codes ' +
          'sign people in; show them to nobody else.',
      )
      .option('--json', 'one JSON object a line')
      .action(async ({ json }: JsonOption) =>
        withDeployment(context, async (deployment) => {
          const waiting = await deployment.people.desk.waiting();
          const objects = waiting.map(({ id, mail: { to, subject, text }, tries, expiresAtMs }) => ({
            object: 'mail',
            id,
            to,
            subject,
            text,
            tries,
            expires_at: timestampOf(expiresAtMs),
          }));
          const texts = objects.map(({ to, subject, text, expires_at }) =>
            [`To ${to}, good until ${expires_at}`, subject, '', text.trimEnd()].join('\n'),
          );
          present(context.terminal, json === true, {
            objects,
            text: texts.length === 0 ? 'No mail waits.' : texts.join('\n\n----\n\n'),
          });
        }),
      ),
    'npm run ags -- mail outbox',
  );
};
