// Shows /openapi.json. Everything comes from the sandbox itself; nothing is fetched from elsewhere.
const TOKEN_ENDPOINT = '/oauth2/token';

// The token endpoint takes JSON, Swagger UI sends a form.
function asJson(request) {
  if (new URL(request.url, location.href).pathname === TOKEN_ENDPOINT && typeof request.body === 'string') {
    request.body = JSON.stringify(Object.fromEntries(new URLSearchParams(request.body)));
    request.headers['Content-Type'] = 'application/json';
  }
  return request;
}

window.ui = SwaggerUIBundle({
  url: '/openapi.json',
  dom_id: '#operations',
  presets: [SwaggerUIBundle.presets.apis],
  deepLinking: true,
  displayRequestDuration: true,
  filter: true,
  persistAuthorization: true,
  tryItOutEnabled: true,
  validatorUrl: null,
  oauth2RedirectUrl: new URL('/docs/oauth2-redirect.html', location.href).href,
  requestInterceptor: asJson,
});
