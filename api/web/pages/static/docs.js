// The reference: Swagger UI on this service's own document, with requests to this service alone.
"use strict";

const dark = matchMedia("(prefers-color-scheme: dark)");
const followScheme = () => document.documentElement.classList.toggle("dark-mode", dark.matches);
dark.addEventListener("change", followScheme);
followScheme();

async function show() {
  // Below whatever prefix a proxy has put before the service.
  const root = new URL(".", location.href);
  const answer = await fetch(new URL("openapi.json", root));
  if (!answer.ok) {
    throw new Error(`openapi.json was answered with status ${answer.status}.`);
  }
  const spec = await answer.json();
  spec.servers = [{ url: root.href.replace(/\/$/, ""), description: "This server." }];
  SwaggerUIBundle({
    dom_id: "#reference",
    spec,
    deepLinking: true,
    displayOperationId: true,
    docExpansion: "list",
    defaultModelsExpandDepth: 0,
    tryItOutEnabled: true,
    // Else documents are sent to a validator elsewhere.
    validatorUrl: null,
  });
}

show().catch((error) => {
  const failure = document.getElementById("failure");
  failure.textContent = `The reference cannot be shown. ${error.message}`;
  failure.hidden = false;
});
