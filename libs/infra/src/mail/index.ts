export { InvalidMailAddress, type MailAddress, requireMailAddress } from '../config/index.js';
export { type Mail, Mailer, type MailOutcome } from './mailer.js';
export { SmtpMailer, type SmtpMailerOptions } from './smtp-mailer.js';
