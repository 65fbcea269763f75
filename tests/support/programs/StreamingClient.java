import java.io.ByteArrayInputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.regex.Pattern;

/** Creates a player and two games at a service, with bodies that are read from streams. */
public class StreamingClient {
    private static final HttpClient CLIENT = HttpClient.newHttpClient();

    public static void main(String[] arguments) throws Exception {
        String url = arguments[0];
        String player = post(url + "/v1/players", null, "{\"name\": \"Java\", \"kind\": \"bot\"}");
        var found = Pattern.compile("\"token\":\"([^\"]+)\"").matcher(player);
        found.find();
        for (int number = 0; number < 2; number++) {
            post(url + "/v1/games", found.group(1), "{\"ruleset\": \"parade\", \"seat_count\": 2.0}");
        }
        System.out.println("done");
    }

    private static String post(String url, String token, String body) throws Exception {
        var request = HttpRequest.newBuilder(URI.create(url))
            .header("Content-Type", "application/json")
            .POST(HttpRequest.BodyPublishers.ofInputStream(
                () -> new ByteArrayInputStream(body.getBytes())));
        if (token != null) {
            request.header("Authorization", "Bearer " + token);
        }
        var response = CLIENT.send(request.build(), HttpResponse.BodyHandlers.ofString());
        if (response.statusCode() != 201) {
            throw new IllegalStateException(response.statusCode() + " " + response.body());
        }
        return response.body();
    }
}
