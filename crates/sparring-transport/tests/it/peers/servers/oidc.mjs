// An OpenID provider, and before an MCP server of ours a gate that lets in who
// has a token of it.
//
//   node oidc.mjs FOLDER PORT UPSTREAM KEY
//
// FOLDER has the provider's package, UPSTREAM is the MCP server, and KEY is the
// public key of a client, as a JWK. The gate is at PORT, the provider at one that
// is free. Whoever logs in is somebody, and agrees to everything.

import { createServer, request as ask } from 'node:http';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const [folder, port, upstream, key] = process.argv.slice(2);
const entry = createRequire(`${folder}/`).resolve('oidc-provider');
const { Provider } = await import(pathToFileURL(entry));

const gate = `http://127.0.0.1:${port}`;
const resource = `${gate}/mcp`;

const listening = (server, at) => new Promise((done) => server.listen(at, '127.0.0.1', done));
const own = createServer();
await listening(own, 0);
const issuer = `http://127.0.0.1:${own.address().port}`;

const machine = { grant_types: ['client_credentials'], redirect_uris: [], response_types: [] };
const provider = new Provider(issuer, {
  clients: [
    {
      ...machine,
      client_id: 'machine',
      client_secret: 'hunter-machine',
      token_endpoint_auth_method: 'client_secret_basic',
    },
    {
      ...machine,
      client_id: 'signer',
      token_endpoint_auth_method: 'private_key_jwt',
      token_endpoint_auth_signing_alg: 'ES256',
      jwks: { keys: [JSON.parse(key)] },
    },
  ],
  scopes: ['openid', 'offline_access', 'mcp:call'],
  features: {
    clientCredentials: { enabled: true },
    devInteractions: { enabled: false },
    registration: { enabled: true },
    resourceIndicators: {
      enabled: true,
      getResourceServerInfo: (_, audience) => {
        if (audience !== resource) throw new Error('another resource');
        return { audience, scope: 'mcp:call', accessTokenFormat: 'opaque' };
      },
    },
  },
  interactions: { url: (_, interaction) => `/interaction/${interaction.uid}` },
  findAccount: (_, accountId) => ({ accountId, claims: () => ({ sub: accountId }) }),
});

/** Says yes to what the provider asks, first who it is and then whether they agree. */
async function agree(request, response) {
  const { prompt, params, grantId } = await provider.interactionDetails(request, response);
  if (prompt.name === 'login') {
    const result = { login: { accountId: 'somebody' } };
    return provider.interactionFinished(request, response, result);
  }
  const grant = grantId
    ? await provider.Grant.find(grantId)
    : new provider.Grant({ accountId: 'somebody', clientId: params.client_id });
  grant.addOIDCScope('offline_access mcp:call');
  grant.addResourceScope(resource, 'mcp:call');
  const result = { consent: { grantId: await grant.save() } };
  return provider.interactionFinished(request, response, result, { mergeWithLastSubmission: true });
}

const serve = provider.callback();
own.on('request', (request, response) => {
  if (!request.url.startsWith('/interaction/')) return serve(request, response);
  return agree(request, response).catch((error) => response.writeHead(500).end(String(error)));
});

const metadata = '/.well-known/oauth-protected-resource/mcp';

/** Whether the token is one of the provider's, for this server, and for calls. */
async function admits(token) {
  const found =
    (await provider.AccessToken.find(token)) ?? (await provider.ClientCredentials.find(token));
  return found?.isValid && found.aud === resource && found.scopes.has('mcp:call');
}

const server = createServer(async (request, response) => {
  if (request.url === metadata) {
    const document = { resource, authorization_servers: [issuer], scopes_supported: ['mcp:call'] };
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(document));
    return;
  }
  const token = /^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1];
  if (!token || !(await admits(token))) {
    const challenge = `Bearer resource_metadata="${gate}${metadata}"`;
    response.writeHead(401, { 'www-authenticate': challenge }).end();
    return;
  }
  const { method, url } = request;
  const passed = ask(upstream + url, { method, headers: request.headers }, (answer) => {
    response.writeHead(answer.statusCode, answer.headers);
    answer.pipe(response);
  });
  request.pipe(passed);
  response.on('close', () => passed.destroy());
  passed.on('error', () => response.destroy());
});
await listening(server, Number(port));
console.log(`listening at ${gate}`);
